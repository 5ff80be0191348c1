//! Credentials in HTTP headers.

use super::keys::{Key, Value, head_of, is_blank_after, key_around, key_value};
use super::{
    Hits, Tail, begins_word, byte_at, content_bytes, is_word, key_name, run, secret_key, starts_with_folded,
};
use crate::{Rule, SECRET_BYTES_MIN};

const BLANKS_MAX: usize = 8;
const VALUE_HEAD_BYTES: usize = 256;
/// Without a digit or mixed case only so long a word is a credential.
const PLAIN_BYTES_MIN: usize = 24;
const SCHEMES: &[&str] =
    &["Bearer", "bearer", "Basic", "basic", "Token", "token", "Bot", "ApiKey", "Digest", "Negotiate"];

/// The value of an `Authorization` header or key.
pub(in crate::redact) fn authorization(text: &[u8], at: usize, hits: &mut Hits) {
    let Some(key) = key_around(text, at) else { return };
    if ends_folded(key.name, "authorization") {
        let (start, tail) = header_value(&key);
        let start = after_scheme(text, start);
        report(text, Rule::AuthHeader, start, tail, hits);
    } else if secret_key(key.name) {
        key_value(text, &key, hits);
    }
}

/// The value of a `Cookie` or `Set-Cookie` header or key.
pub(in crate::redact) fn cookie(text: &[u8], at: usize, hits: &mut Hits) {
    let Some(key) = key_around(text, at) else { return };
    let (start, tail) = header_value(&key);
    let named = ["cookie", "set-cookie"].iter().any(|name| key.name.eq_ignore_ascii_case(name));
    if named && key.sign == b':' && head_of(text, start, tail).contains(&b'=') {
        report(text, Rule::Cookie, start, tail, hits);
    } else {
        key_name(text, at, hits);
    }
}

fn header_value(key: &Key<'_>) -> (usize, Tail) {
    match key.value {
        Value::Quoted { start, quote, escapes } => (start, Tail::Quoted { quote, escapes }),
        Value::Bare { start } => (start, Tail::Class(is_header)),
    }
}

fn after_scheme(text: &[u8], start: usize) -> usize {
    match SCHEMES.iter().find(|scheme| is_blank_after(text, start, scheme.as_bytes())) {
        Some(scheme) => {
            let end = start + scheme.len();
            end + run(text, end, |byte| byte == b' ', BLANKS_MAX)
        }
        None => start,
    }
}

fn report(text: &[u8], rule: Rule, start: usize, tail: Tail, hits: &mut Hits) {
    let head = head_of(text, start, tail);
    if content_bytes(head) >= SECRET_BYTES_MIN {
        hits.add(text, rule, start, start + head.len(), tail);
    }
}

/// `Bearer` and its value, anchored at `eare`.
pub(in crate::redact) fn bearer(text: &[u8], at: usize, hits: &mut Hits) {
    scheme_value(text, at, b"bearer", hits);
}

/// `Basic` and its value, anchored at `asic`.
pub(in crate::redact) fn basic(text: &[u8], at: usize, hits: &mut Hits) {
    scheme_value(text, at, b"basic", hits);
}

fn scheme_value(text: &[u8], at: usize, scheme: &[u8], hits: &mut Hits) {
    let Some(start) = at.checked_sub(1) else { return };
    if !starts_with_folded(text, start, scheme) || !begins_word(text, start) {
        return;
    }
    let end = start + scheme.len();
    let blanks = run(text, end, |byte| byte == b' ', BLANKS_MAX);
    let value = end + blanks;
    let count = run(text, value, is_token68, VALUE_HEAD_BYTES);
    if blanks > 0 && is_credential(text.get(value..value + count).unwrap_or_default()) {
        hits.add(text, Rule::AuthHeader, value, value + count, Tail::Class(is_token68));
    }
}

fn is_credential(value: &[u8]) -> bool {
    let digit = value.iter().any(u8::is_ascii_digit);
    let mixed = value.iter().skip(1).any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    value.len() >= PLAIN_BYTES_MIN || (value.len() >= SECRET_BYTES_MIN && (digit || mixed))
}

fn is_token68(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=' | b'-')
}

fn is_header(byte: u8) -> bool {
    !matches!(byte, b'\r' | b'\n' | b'"' | b'\'' | b'\\')
}

fn ends_folded(name: &str, wanted: &str) -> bool {
    let tail = name.len().checked_sub(wanted.len()).and_then(|at| name.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(wanted)) && byte_at(name.as_bytes(), 0).is_some()
}
