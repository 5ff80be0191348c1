//! Writes untrusted text so that it stays data.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter};

/// Characters that end a line somewhere: in terminals, editors, or Unicode's own rules.
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{0b}' | '\u{0c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines of a text under every rule of what a line is; `\r\n` is one end.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends_line) {
        let (line, tail) = rest.split_at(at);
        lines.push(line);
        let end = if tail.starts_with("\r\n") { 2 } else { tail.chars().next().map_or(1, char::len_utf8) };
        rest = tail.get(end..).unwrap_or("");
    }
    lines.push(rest);
    lines
}

/// The text with every line prefixed `| ` and ended by a newline.
#[must_use]
pub fn quoted_lines(text: &str) -> String {
    lines(text).into_iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "| {line}");
        out
    })
}

/// An id as it may stand in a header line: plain when it is a plain word, else a JSON string.
pub(super) fn header_id(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '-');
    if !id.is_empty() && id.chars().all(is_plain) { id.to_owned() } else { json_text(&id) }
}

/// JSON text in which `< > &`, control, bidirectional and zero-width characters stand as `\u` and four hex digits.
#[must_use]
pub fn json_text<T: Serialize>(value: &T) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Inert);
    if value.serialize(&mut serializer).is_err() {
        return "null".to_owned();
    }
    String::from_utf8(out).unwrap_or_else(|_| "null".to_owned())
}

/// Whether a character never stands as itself.
pub(super) const fn is_hidden(c: char) -> bool {
    matches!(c,
        '<' | '>' | '&' | '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(is_hidden) {
            let (plain, tail) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let Some(c) = tail.chars().next() else { break };
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = tail.get(c.len_utf8()..).unwrap_or("");
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let code = match escape {
            CharEscape::Quote => return out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => return out.write_all(b"\\\\"),
            CharEscape::Solidus => return out.write_all(b"/"),
            CharEscape::Backspace => 8,
            CharEscape::FormFeed => 12,
            CharEscape::LineFeed => 10,
            CharEscape::CarriageReturn => 13,
            CharEscape::Tab => 9,
            CharEscape::AsciiControl(byte) => byte,
        };
        write!(out, "\\u{code:04x}")
    }
}
