//! Signed tokens, private key blocks and passwords in URLs.

use super::{Hits, Tail, begins_word, byte_at, content_bytes, is_word, run, run_back, starts_with};
use crate::Rule;

const JWT_PART_BYTES_MIN: usize = 10;
/// A longer first and second part are taken for a token without seeing the third.
const JWT_HEAD_BYTES_MAX: usize = 4096;
const PEM_LABEL_BYTES_MAX: usize = 48;
const PEM_END: &[u8] = b"-----END ";
const USERINFO_BYTES_MAX: usize = 1024;

/// Three base64url parts of which the first is a JSON object.
pub(in crate::redact) fn jwt(text: &[u8], at: usize, hits: &mut Hits) {
    // Inside of a longer part no token begins.
    let inside = at.checked_sub(1).and_then(|at| byte_at(text, at)) == Some(b'-');
    if inside || !begins_word(text, at) {
        return;
    }
    let first = run(text, at, is_part, JWT_HEAD_BYTES_MAX);
    let dot = at + first;
    if first < JWT_PART_BYTES_MIN || byte_at(text, dot) != Some(b'.') {
        return;
    }
    let second = run(text, dot + 1, is_part, JWT_HEAD_BYTES_MAX - first);
    let cut = first + second == JWT_HEAD_BYTES_MAX;
    let end = dot + 1 + second;
    if cut || (second >= JWT_PART_BYTES_MIN && byte_at(text, end) == Some(b'.')) {
        hits.add(text, Rule::Jwt, at, end, Tail::Class(is_part_or_dot));
    }
}

fn is_part(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_part_or_dot(byte: u8) -> bool {
    is_part(byte) || byte == b'.'
}

/// `-----BEGIN … PRIVATE KEY-----`, anchored at its `-BEG`.
pub(in crate::redact) fn pem_block(text: &[u8], at: usize, hits: &mut Hits) {
    let Some(start) = at.checked_sub(4).filter(|start| starts_with(text, *start, b"-----BEGIN ")) else {
        return;
    };
    let label_start = start + b"-----BEGIN ".len();
    let count = run(text, label_start, is_label, PEM_LABEL_BYTES_MAX);
    let end = label_start + count;
    let label = text.get(label_start..end).unwrap_or_default();
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    if private && starts_with(text, end, b"-----") {
        hits.add(text, Rule::PemBlock, start, end + 5, Tail::Pem);
    }
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// End of the end line at or after the place.
pub(super) fn pem_end(text: &[u8], from: usize) -> Option<usize> {
    // A block that is followed further may have the beginning of its end line behind it.
    let mut at = from.saturating_sub(PEM_END.len() + PEM_LABEL_BYTES_MAX + 5);
    let finder = memchr::memmem::Finder::new(PEM_END);
    while let Some(found) = finder.find(text.get(at..)?) {
        let label = at + found + PEM_END.len();
        let end = label + run(text, label, is_label, PEM_LABEL_BYTES_MAX);
        if starts_with(text, end, b"-----") && end + 5 > from {
            return Some(end + 5);
        }
        at = label;
    }
    None
}

/// `user:pass` of `scheme://user:pass@`, anchored at its `://`.
pub(in crate::redact) fn url_userinfo(text: &[u8], at: usize, hits: &mut Hits) {
    let start = at + 3;
    if run_back(text, at, |byte| byte.is_ascii_alphanumeric(), 1) == 0 {
        return;
    }
    let count = run(text, start, |byte| !ends_authority(byte), USERINFO_BYTES_MAX);
    let authority = text.get(start..start + count).unwrap_or_default();
    let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { return };
    let userinfo = authority.get(..sign).unwrap_or_default();
    if userinfo.contains(&b':') && content_bytes(userinfo) > 1 {
        hits.add_closed(Rule::UrlUserinfo, start, start + sign);
    }
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`')
}
