//! A body as lines of text.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use loom_domain::{Code, Error, Result};

use super::ByteStream;

/// Longest line of a stream in bytes.
pub(super) const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Where lines may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// At LF or CRLF.
    Newline,
    /// At CR too, as event streams allow.
    AnyReturn,
}

/// Cuts bytes into lines, across the borders of chunks.
#[derive(Debug)]
pub(super) struct Cutter {
    ends: Ends,
    open: Vec<u8>,
    after_return: bool,
}

impl Cutter {
    pub(super) fn new(ends: Ends) -> Self {
        Cutter { ends, open: Vec::new(), after_return: false }
    }

    /// The lines that end in these bytes, without their ends.
    pub(super) fn push(&mut self, bytes: &[u8], lines: &mut VecDeque<String>) -> Result<(), Trouble> {
        for byte in bytes {
            let follows = std::mem::take(&mut self.after_return);
            match (byte, self.ends) {
                (b'\n', Ends::AnyReturn) if follows => {}
                (b'\n', Ends::Newline) if self.open.last() == Some(&b'\r') => {
                    self.open.pop();
                    lines.push_back(self.close()?);
                }
                (b'\n', _) => lines.push_back(self.close()?),
                (b'\r', Ends::AnyReturn) => {
                    self.after_return = true;
                    lines.push_back(self.close()?);
                }
                _ if self.open.len() >= LINE_BYTES_MAX => return Err(Trouble::TooLong),
                _ => self.open.push(*byte),
            }
        }
        Ok(())
    }

    /// The last line, if it has no end.
    pub(super) fn finish(&mut self) -> Result<Option<String>, Trouble> {
        if self.open.is_empty() { Ok(None) } else { self.close().map(Some) }
    }

    fn close(&mut self) -> Result<String, Trouble> {
        String::from_utf8(std::mem::take(&mut self.open)).map_err(|_| Trouble::NotText)
    }
}

/// Why bytes are not lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    TooLong,
    NotText,
}

impl Trouble {
    pub(super) fn error(self) -> Error {
        match self {
            Trouble::TooLong => Error::new(
                Code::ProviderResponseTooLarge,
                format!("a line of the answer is longer than {LINE_BYTES_MAX} bytes"),
            ),
            Trouble::NotText => Error::new(Code::ProviderProtocolError, "the answer is not UTF-8"),
        }
    }
}

struct State {
    body: ByteStream,
    cutter: Cutter,
    ready: VecDeque<String>,
    trouble: Option<Trouble>,
    is_over: bool,
}

/// The lines of a body. After an error nothing more comes.
pub(super) fn lines(body: ByteStream, ends: Ends) -> BoxStream<'static, Result<String>> {
    let state =
        State { body, cutter: Cutter::new(ends), ready: VecDeque::new(), trouble: None, is_over: false };
    stream::try_unfold(state, |mut state| async move {
        loop {
            if let Some(line) = state.ready.pop_front() {
                return Ok(Some((line, state)));
            }
            if let Some(trouble) = state.trouble {
                return Err(state.body.named(trouble.error()));
            }
            if state.is_over {
                return Ok(None);
            }
            let chunk: Option<Bytes> = state.body.chunk().await.transpose()?;
            let cut = match &chunk {
                Some(bytes) => state.cutter.push(bytes, &mut state.ready),
                None => state.cutter.finish().map(|line| state.ready.extend(line)),
            };
            state.is_over = chunk.is_none();
            // The lines before it come first.
            state.trouble = cut.err();
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(ends: Ends, chunks: &[&str]) -> Vec<String> {
        let (mut cutter, mut lines) = (Cutter::new(ends), VecDeque::new());
        for chunk in chunks {
            cutter.push(chunk.as_bytes(), &mut lines).unwrap();
        }
        lines.extend(cutter.finish().unwrap());
        lines.into()
    }

    #[test]
    fn lines_end_where_they_should_whatever_the_chunks() {
        assert_eq!(cut(Ends::Newline, &["a\r", "\nb\n\nc\rd"]), ["a", "b", "", "c\rd"]);
        assert_eq!(cut(Ends::AnyReturn, &["a\r", "\nb\rc\n", "\nd"]), ["a", "b", "c", "", "d"]);
        assert_eq!(cut(Ends::Newline, &["\u{e9}"]), ["\u{e9}"]);
        assert!(cut(Ends::Newline, &[]).is_empty());
    }

    #[test]
    fn a_line_has_a_limit_and_is_text() {
        let (mut cutter, mut lines) = (Cutter::new(Ends::Newline), VecDeque::new());
        let long = vec![b'x'; LINE_BYTES_MAX];
        cutter.push(&long, &mut lines).unwrap();
        assert_eq!(cutter.push(b"x", &mut lines), Err(Trouble::TooLong));
        let mut cutter = Cutter::new(Ends::Newline);
        assert_eq!(cutter.push(b"\xff\n", &mut lines), Err(Trouble::NotText));
    }
}
