//! What the operations take.

use loom_domain::{Code, Error, Expectation, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Letter;

/// Input of `probe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeInput {
    /// Membership to write to
    #[schemars(length(max = 64), regex(pattern = "^mem_[0-9a-z]+$"))]
    pub(super) to: String,
}

/// Input of `notify`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NotifyInput {
    /// Membership to write to
    #[schemars(length(max = 64), regex(pattern = "^mem_[0-9a-z]+$"))]
    pub(super) to: String,
    /// Text in Markdown
    #[schemars(length(min = 1, max = 20_000))]
    pub(super) text: Option<String>,
    /// File with the text, or - for standard input
    #[schemars(length(min = 1, max = 20_000), extend("x-cli" = "text-file"))]
    pub(super) text_file: Option<String>,
    /// File to send; may be repeated
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(max = 4_096)))]
    pub(super) file: Vec<String>,
    /// Whether an answer is expected
    pub(super) expect_reply: Option<Reply>,
    /// Key of this message: the same key gives the same item, never a second message
    #[schemars(length(min = 1, max = 200), regex(pattern = "^[!-~]+$"))]
    pub(super) idempotency_key: String,
    /// Return once the message is stored
    #[serde(default)]
    pub(super) r#async: bool,
}

/// Whether an answer is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    None,
    Optional,
    Required,
}

impl NotifyInput {
    /// The message that is ordered.
    pub(super) fn letter(self) -> Result<Letter> {
        let wrong = |why: &str| Error::new(Code::InvalidInput, why).with_detail("pointer", "/text");
        let text = match (self.text, self.text_file) {
            (Some(_), Some(_)) => return Err(wrong("text and text_file exclude each other")),
            (Some(text), None) | (None, Some(text)) => text,
            (None, None) => String::new(),
        };
        if text.trim().is_empty() && self.file.is_empty() {
            return Err(wrong("the message is empty").with_hint("give --text, --text-file or --file"));
        }
        Ok(Letter {
            membership_id: self.to,
            text,
            files: self.file,
            expect_reply: self.expect_reply.map(|word| match word {
                Reply::None => Expectation::None,
                Reply::Optional => Expectation::Optional,
                Reply::Required => Expectation::Required,
            }),
            idempotency_key: self.idempotency_key,
        })
    }
}
