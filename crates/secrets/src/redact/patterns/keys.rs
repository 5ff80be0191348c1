//! Values under keys whose name says that they are secret.

use super::{Hits, Tail, byte_at, run, run_back, starts_with};
use crate::redact::marker;
use crate::{Rule, SECRET_BYTES_MIN};

/// Longest key that is looked at, to each side of its anchor.
const KEY_BYTES_MAX: usize = 64;
/// Most blanks between key, sign and value.
const BLANKS_MAX: usize = 8;
/// Bytes of a value that decide whether it is one.
const VALUE_HEAD_BYTES: usize = 512;
const ESCAPES_MAX: usize = 7;

const NAMES: &[&[&str]] = &[
    &["password"],
    &["passwd"],
    &["secret"],
    &["token"],
    &["api", "key"],
    &["apikey"],
    &["access", "key"],
    &["accesskey"],
    &["private", "key"],
    &["privatekey"],
    &["authorization"],
    &["cookie"],
];

/// Whether the key's first or last word is one of the secret names.
pub fn secret_key(key: &str) -> bool {
    if key.len() > 2 * KEY_BYTES_MAX {
        return false;
    }
    let words = words(key);
    NAMES.iter().any(|name| {
        let count = name.len();
        let last = words.len().checked_sub(count).and_then(|at| words.get(at..));
        [words.get(..count), last].into_iter().flatten().any(|part| same_words(part, name))
    })
}

fn same_words(part: &[&str], name: &[&str]) -> bool {
    part.iter().zip(name).all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
}

/// Splits at dashes, underscores and the humps of camel case.
fn words(key: &str) -> Vec<&str> {
    key.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(humps).filter(|word| !word.is_empty()).collect()
}

fn humps(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    let begins = |at: &usize| upper(*at) && (!upper(at - 1) || lower(at + 1));
    let mut starts: Vec<usize> = vec![0];
    starts.extend((1..word.len()).filter(begins));
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| word.get(*start..end)).collect()
}

/// A key with the sign after it.
pub(super) struct Key<'a> {
    /// Name without quotes.
    pub(super) name: &'a str,
    /// Where the name begins.
    pub(super) start: usize,
    /// `:` or `=`.
    pub(super) sign: u8,
    /// First byte of the value.
    pub(super) value: Value,
}

/// How a value is written.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// In quotes; the place is that of its first byte.
    Quoted { start: usize, quote: u8, escapes: usize },
    /// Without quotes.
    Bare { start: usize },
}

/// Reads the key around the anchor.
pub(super) fn key_around(text: &[u8], at: usize) -> Option<Key<'_>> {
    let end = at + run(text, at, is_key, KEY_BYTES_MAX);
    let quoted = run(text, end, |byte| byte == b'\\', ESCAPES_MAX);
    let after = match byte_at(text, end + quoted) {
        Some(b'"' | b'\'') => end + quoted + 1,
        _ if quoted == 0 => end,
        _ => return None,
    };
    let sign_at = after + run(text, after, is_blank, BLANKS_MAX);
    let sign = byte_at(text, sign_at).filter(|sign| matches!(sign, b':' | b'='))?;
    let start = sign_at + 1 + run(text, sign_at + 1, is_blank, BLANKS_MAX);
    if matches!(byte_at(text, sign_at + 1), Some(b':' | b'=' | b'>')) {
        return None;
    }
    let escapes = run(text, start, |byte| byte == b'\\', ESCAPES_MAX);
    let value = match byte_at(text, start + escapes) {
        Some(quote @ (b'"' | b'\'')) => Value::Quoted { start: start + escapes + 1, quote, escapes },
        _ => Value::Bare { start },
    };
    let key_start = key_start(text, at);
    // What stands right after a marker was part of a longer word: text must read the same after a second run.
    if marker::ending_at(text, key_start).is_some() {
        return None;
    }
    let name = std::str::from_utf8(text.get(key_start..end)?).ok()?;
    Some(Key { name, start: key_start, sign, value })
}

/// Start of the key; the letter of an escaped line break is none of it.
fn key_start(text: &[u8], at: usize) -> usize {
    let start = at - run_back(text, at, is_key, KEY_BYTES_MAX);
    let escaped = start > 0 && byte_at(text, start - 1) == Some(b'\\');
    let letter = matches!(byte_at(text, start), Some(b'n' | b'r' | b't'));
    start + usize::from(escaped && letter)
}

/// A value under a secret key.
pub(in crate::redact) fn key_name(text: &[u8], at: usize, hits: &mut Hits) {
    if let Some(key) = key_around(text, at).filter(|key| secret_key(key.name)) {
        key_value(text, &key, hits);
    }
}

/// Reports the key's value.
pub(super) fn key_value(text: &[u8], key: &Key<'_>, hits: &mut Hits) {
    let (start, tail) = match key.value {
        Value::Quoted { start, quote, escapes } => (start, Tail::Quoted { quote, escapes }),
        Value::Bare { start } if key.sign == b':' && begins_line(text, key.start) => {
            (start, Tail::Class(is_line))
        }
        Value::Bare { start } => (start, Tail::Class(is_bare)),
    };
    let head = head_of(text, start, tail);
    let bare = matches!(key.value, Value::Bare { .. });
    let called = bare && byte_at(text, start + head.len()) == Some(b'(');
    let number = bare && key.sign == b':' && head.trim_ascii().iter().all(u8::is_ascii_digit);
    if !called && !number && is_secret_value(head) {
        hits.add(text, Rule::SecretKeyName, start, start + head.len(), tail);
    }
}

/// The bytes of a value that decide.
pub(super) fn head_of(text: &[u8], start: usize, tail: Tail) -> &[u8] {
    let window = text.get(..text.len().min(start + VALUE_HEAD_BYTES)).unwrap_or_default();
    let (end, _) = tail.follow(window, start);
    text.get(start..end).unwrap_or_default()
}

fn is_secret_value(value: &[u8]) -> bool {
    let trimmed = value.trim_ascii();
    let reference = [&b"env:"[..], b"keychain:", b"vault:", b"file:"].iter().any(|s| trimmed.starts_with(s));
    let one_word = !trimmed.iter().any(u8::is_ascii_whitespace);
    !(reference && one_word) && content_bytes(trimmed) >= SECRET_BYTES_MIN
}

/// Number of bytes outside of markers.
pub(in crate::redact) fn content_bytes(value: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < value.len() {
        let marker = marker::at(value, at);
        count += usize::from(marker.is_none());
        at += marker.unwrap_or(1);
    }
    count
}

fn begins_line(text: &[u8], at: usize) -> bool {
    let blanks =
        run_back(text, at, |byte| is_blank(byte) || matches!(byte, b'-' | b'"' | b'\''), KEY_BYTES_MAX);
    at == blanks || byte_at(text, at - blanks - 1) == Some(b'\n')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_line(byte: u8) -> bool {
    !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'{' | b'}' | b'<' | b'>')
}

fn is_bare(byte: u8) -> bool {
    let stops = matches!(byte, b'"' | b'\'' | b'`' | b'&' | b'<' | b'>' | b'\\' | b',' | b';')
        || matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}');
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !stops
}

/// Place of the first byte of the closing quote, its backslashes included.
pub(super) fn closing_quote(text: &[u8], from: usize, quote: u8, escapes: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memchr::memchr(quote, text.get(at..)?)?;
        let slashes = run_back(text, found, |byte| byte == b'\\', KEY_BYTES_MAX);
        if slashes < escapes || slashes % (2 * (escapes + 1)) == escapes {
            return Some((found - slashes.min(escapes)).max(from));
        }
        at = found + 1;
    }
}

/// Whether a known literal stands at the place; for the header rules.
pub(super) fn is_blank_after(text: &[u8], at: usize, literal: &[u8]) -> bool {
    starts_with(text, at, literal) && byte_at(text, at + literal.len()).is_some_and(is_blank)
}
