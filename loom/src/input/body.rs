//! The body of a message: from a flag, from words, from a file or from standard input; one of them.

use std::io::{self, Read as _};

use clap::Args;
use loom_domain::artifact::TEXT_BYTES_MAX;
use loom_domain::{Code, Error, Result};

use super::document;
use crate::environment::Environment;

/// Where the text of a message comes from.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the fields are the names of the flags")]
pub(crate) struct Body {
    /// Text, as words
    #[arg(value_name = "BODY")]
    pub(crate) words: Vec<String>,
    /// Text
    #[arg(long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// File with the text, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body_file: Option<String>,
}

impl Body {
    /// Whether any source was named.
    pub(crate) fn is_named(&self) -> bool {
        !self.words.is_empty() || self.body.is_some() || self.body_file.is_some()
    }

    /// The text; `None` when no source was named and a person sits at the terminal.
    pub(crate) fn read(&self, env: &mut Environment) -> Result<Option<String>> {
        let sources = [!self.words.is_empty(), self.body.is_some(), self.body_file.is_some()];
        if sources.into_iter().filter(|given| *given).count() > 1 {
            return Err(Error::new(
                Code::MutuallyExclusive,
                "words, --body and --body-file exclude each other",
            ));
        }
        if let Some(text) = &self.body {
            return Ok(Some(text.clone()));
        }
        match (self.body_file.as_deref(), self.words.as_slice()) {
            (Some("-"), _) => stdin(env).map(Some),
            (Some(path), _) => document::read_text(path, TEXT_BYTES_MAX).map(Some),
            (None, [dash]) if dash == "-" => stdin(env).map(Some),
            (None, []) if env.stdin.is_terminal => Ok(None),
            (None, []) => stdin(env).map(|text| Some(text).filter(|text| !text.is_empty())),
            (None, words) => Ok(Some(words.join(" "))),
        }
    }
}

fn stdin(env: &mut Environment) -> Result<String> {
    read_limited(&mut env.stdin.reader, TEXT_BYTES_MAX)
}

/// Reads text up to a limit; one line end at its end is dropped.
pub(crate) fn read_limited(reader: &mut dyn io::Read, bytes_max: usize) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let failed =
        |error: io::Error| Error::new(Code::InvalidInput, format!("the text cannot be read: {error}"));
    reader.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > bytes_max {
        return Err(Error::new(Code::TextTooLong, format!("the text is over {bytes_max} bytes")));
    }
    let mut text =
        String::from_utf8(bytes).map_err(|_| Error::new(Code::InvalidInput, "the text is not UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Body, stdin: &'static [u8]) -> Result<Option<String>> {
        let mut env = Environment::empty();
        env.stdin.reader = Box::new(stdin);
        body.read(&mut env)
    }

    #[test]
    fn sources_exclude_each_other_and_stdin_is_last() {
        let words = Body { words: vec!["hello".into(), "there".into()], ..Body::default() };
        assert_eq!(read(&words, b"ignored").unwrap().as_deref(), Some("hello there"));
        let both = Body { body: Some("x".into()), ..words };
        assert_eq!(read(&both, b"").unwrap_err().code, Code::MutuallyExclusive);
        assert_eq!(read(&Body::default(), b"piped\n").unwrap().as_deref(), Some("piped"));
        assert_eq!(read(&Body::default(), b"").unwrap(), None);
        let dash = Body { body_file: Some("-".into()), ..Body::default() };
        assert_eq!(read(&dash, b"a\n\n").unwrap().as_deref(), Some("a\n"));
    }

    #[test]
    fn long_and_broken_texts_are_refused() {
        assert_eq!(read_limited(&mut &b"12345"[..], 4).unwrap_err().code, Code::TextTooLong);
        assert_eq!(read_limited(&mut &b"\xff"[..], 4).unwrap_err().code, Code::InvalidInput);
    }
}
