//! The written forms of a secret value.

use std::fmt::Write as _;

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use zeroize::Zeroizing;

use crate::SECRET_BYTES_MIN;

/// RFC 3986: everything but the unreserved characters.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What ECMAScript's `encodeURIComponent` leaves alone besides.
const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
/// What forms in a path or query often leave alone besides.
const PATH: &AsciiSet =
    &COMPONENT.remove(b'/').remove(b':').remove(b'@').remove(b'$').remove(b',').remove(b';').remove(b'+');

/// One written form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// The bytes that are the same wherever the value stands.
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// A base64 character before the bytes also carries bits of the value.
    pub(super) before: bool,
    /// A base64 character after the bytes also carries bits of the value.
    pub(super) after: bool,
}

/// All distinct forms of a value.
pub(super) fn forms(value: &str) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    let mut add = |bytes: Vec<u8>, before, after| {
        let form = Form { bytes: Zeroizing::new(bytes), before, after };
        if form.bytes.len() >= SECRET_BYTES_MIN && !found.contains(&form) {
            found.push(form);
        }
    };
    add(value.as_bytes().to_vec(), false, false);
    for text in json_forms(value).into_iter().chain(percent_forms(value)) {
        add(text.into_bytes(), false, false);
    }
    let lower = hex::encode(value);
    add(lower.to_uppercase().into_bytes(), false, false);
    add(lower.into_bytes(), false, false);
    for offset in 0..3 {
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            add(base64_core(value, offset, engine), offset > 0, !(value.len() + offset).is_multiple_of(3));
        }
    }
    found
}

/// The base64 characters that depend on the value alone when it starts at the byte offset.
fn base64_core(value: &str, offset: usize, engine: &impl base64::Engine) -> Vec<u8> {
    let mut padded = Zeroizing::new(vec![0_u8; offset]);
    padded.extend_from_slice(value.as_bytes());
    let encoded = Zeroizing::new(engine.encode(&*padded));
    let first = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    encoded.as_bytes().get(first..end).unwrap_or_default().to_vec()
}

fn percent_forms(value: &str) -> Vec<String> {
    let mut all = Vec::new();
    for set in [NON_ALPHANUMERIC, UNRESERVED, COMPONENT, PATH] {
        let upper = percent_encode(value.as_bytes(), set).to_string();
        all.push(lower_escapes(&upper));
        all.push(upper.replace("%20", "+"));
        all.push(upper);
    }
    all
}

/// Lower-cases the two digits after each percent sign.
fn lower_escapes(text: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| {
        let escaped = digits > 0;
        digits = if c == '%' { 2 } else { digits - i32::from(escaped) };
        if escaped { c.to_ascii_lowercase() } else { c }
    };
    text.chars().map(lower).collect()
}

fn json_forms(value: &str) -> Vec<String> {
    let escaped = json_escaped(value);
    let html = escaped.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let ascii = ascii_only(&escaped);
    vec![
        json_escaped(&escaped),
        escaped.replace('/', "\\/"),
        html,
        ascii.to_uppercase_escapes(),
        ascii,
        escaped,
    ]
}

fn json_escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn ascii_only(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

trait UppercaseEscapes {
    fn to_uppercase_escapes(&self) -> String;
}

impl UppercaseEscapes for String {
    /// Upper-cases the four digits after each `\u`.
    fn to_uppercase_escapes(&self) -> String {
        let mut parts = self.split("\\u");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str("\\u");
            let (digits, rest) = part.split_at_checked(4).unwrap_or((part, ""));
            out.push_str(&digits.to_ascii_uppercase());
            out.push_str(rest);
        }
        out
    }
}
