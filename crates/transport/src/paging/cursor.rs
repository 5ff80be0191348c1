//! Where a list is read: a page, and how many of its items were given. As text: `SKIP:POSITION`.

use std::fmt;

use loom_domain::{Code, Error, Result};

use super::Paging;

/// Longest position, which is a URL at most.
pub(super) const POSITION_BYTES_MAX: usize = 8_192;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Position {
    /// The page that the request itself names.
    First,
    /// The page at a URL.
    Url(String),
    /// The page of a provider's cursor.
    Token(String),
    /// The page with a number, or after a number of items.
    Number(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::First => Ok(()),
            Position::Url(text) | Position::Token(text) => f.write_str(text),
            Position::Number(number) => number.fmt(f),
        }
    }
}

/// A page and the number of its items that were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) position: Position,
    pub(super) skip: usize,
}

impl Cursor {
    pub(super) fn first() -> Self {
        Self::start_of(Position::First)
    }

    pub(super) fn start_of(position: Position) -> Self {
        Cursor { position, skip: 0 }
    }

    /// Reads the text of a cursor for this kind of list; anything else is `invalid_input`.
    pub(super) fn parse(text: &str, paging: &Paging) -> Result<Self> {
        let wrong = || Error::new(Code::InvalidInput, "the cursor is not one of this list");
        let (skip, rest) = text.split_once(':').ok_or_else(wrong)?;
        let skip = skip.parse::<u32>().map_err(|_| wrong())?;
        if rest.len() > POSITION_BYTES_MAX {
            return Err(wrong());
        }
        let position = match paging {
            _ if rest.is_empty() => Position::First,
            Paging::Link | Paging::NextUrl { .. } => Position::Url(rest.to_owned()),
            Paging::Cursor { .. } => Position::Token(rest.to_owned()),
            Paging::Page { .. } | Paging::Offset { .. } => {
                Position::Number(rest.parse().map_err(|_| wrong())?)
            }
        };
        Ok(Cursor { position, skip: usize::try_from(skip).map_err(|_| wrong())? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.skip, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_others_are_refused() {
        let counted = Paging::Page {
            param: "page".into(),
            start: 1,
            size_param: None,
            size: 2,
            items: ".".parse().unwrap(),
        };
        let url = Cursor { position: Position::Url("https://h/?a=1:2".into()), skip: 7 };
        for (cursor, paging) in [
            (url, &Paging::Link),
            (Cursor::first(), &Paging::Link),
            (Cursor { position: Position::Number(3), skip: 1 }, &counted),
        ] {
            assert_eq!(Cursor::parse(&cursor.to_string(), paging).unwrap(), cursor);
        }
        let long = format!("0:{}", "x".repeat(POSITION_BYTES_MAX + 1));
        for (text, paging) in [
            ("", &counted),
            ("1", &counted),
            ("-1:2", &counted),
            ("0:x", &counted),
            (long.as_str(), &Paging::Link),
        ] {
            assert_eq!(Cursor::parse(text, paging).unwrap_err().code, Code::InvalidInput, "{text}");
        }
    }
}
