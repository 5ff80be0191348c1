//! How a platform counts the length of a text.

/// The unit in which a platform counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// UTF-16 code units (Slack).
    Utf16,
    /// Unicode scalar values (Feishu, Parall).
    CodePoint,
    /// UTF-8 bytes (webhook bodies).
    Byte,
    /// UTF-16 code units after Slack's Markdown translation, in which a `<` may become `&lt;`.
    SlackMarkdown,
    /// Unicode scalar values after Feishu's translation, in which the mark of a heading grows to up to five.
    FeishuMarkdown,
    /// UTF-16 code units after Slack's plain translation, in which `& < >` become entities.
    SlackPlain,
}

impl Unit {
    /// Size of one character in this unit.
    pub fn of_char(self, c: char) -> usize {
        match self {
            Unit::FeishuMarkdown if c == '#' => 4,
            Unit::CodePoint | Unit::FeishuMarkdown => 1,
            Unit::Byte => c.len_utf8(),
            Unit::SlackMarkdown if c == '<' => 4,
            Unit::SlackPlain if matches!(c, '<' | '>') => 4,
            Unit::SlackPlain if c == '&' => 5,
            Unit::Utf16 | Unit::SlackMarkdown | Unit::SlackPlain => c.len_utf16(),
        }
    }

    /// Size of a text in this unit.
    pub fn of(self, text: &str) -> usize {
        match self {
            Unit::Byte => text.len(),
            _ => text.chars().map(|c| self.of_char(c)).sum(),
        }
    }
}

/// The longest text a platform takes in one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Largest size; values below [`Limit::LEAST`] count as that.
    pub max: usize,
    /// Unit of `max`.
    pub unit: Unit,
}

impl Limit {
    /// Below this no fence can be closed and reopened.
    pub const LEAST: usize = 64;

    /// A limit in UTF-16 code units.
    pub const fn utf16(max: usize) -> Self {
        Limit { max, unit: Unit::Utf16 }
    }

    /// A limit in code points.
    pub const fn code_points(max: usize) -> Self {
        Limit { max, unit: Unit::CodePoint }
    }

    /// A limit in bytes.
    pub const fn bytes(max: usize) -> Self {
        Limit { max, unit: Unit::Byte }
    }

    pub(crate) fn size(self) -> usize {
        self.max.max(Self::LEAST)
    }
}
