//! Paths of this machine.

use super::{
    Hits, Tail, after_escape, begins_word, byte_at, is_word, run, run_back, starts_with, starts_with_folded,
};
use crate::Rule;
use crate::redact::marker;

const ROOTS: &[&str] =
    &["/home/", "/root/", "/tmp/", "/var/", "/mnt/", "/media/", "/etc/", "/opt/", "/Users/", "/private/"];
const METHODS: &[&[u8]] = &[b"GET ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"HEAD ", b"OPTIONS "];
const SEGMENT_BYTES_MAX: usize = 255;

/// A path below one of the roots.
pub(in crate::redact) fn posix_path(text: &[u8], at: usize, hits: &mut Hits) {
    let Some(root) = ROOTS.iter().find(|root| starts_with(text, at, root.as_bytes())) else { return };
    let below = at + root.len();
    if byte_at(text, below).is_some_and(is_path) && begins_path(text, at) && !is_request_line(text, at) {
        hits.add(text, Rule::LocalPath, at, below, Tail::Class(is_path));
    }
}

/// Not inside of a longer path, a URL or a name.
fn begins_path(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| byte_at(text, at));
    let inside = before.is_some_and(|byte| {
        matches!(byte, b'.' | b'~' | b'/' | b'%' | b'-' | b'}' | b'$' | b'*') || byte >= 0x80
    });
    begins_word(text, at) && (!inside || after_escape(text, at))
}

fn is_request_line(text: &[u8], at: usize) -> bool {
    METHODS.iter().any(|method| text.get(..at).is_some_and(|before| before.ends_with(method)))
}

/// `~/` and what follows.
pub(in crate::redact) fn home_path(text: &[u8], at: usize, hits: &mut Hits) {
    if begins_path(text, at) {
        hits.add(text, Rule::LocalPath, at, at + 2, Tail::Class(is_path));
    }
}

/// A `file://` URL, anchored at its `ile:`.
pub(in crate::redact) fn file_url(text: &[u8], at: usize, hits: &mut Hits) {
    let Some(start) = at.checked_sub(1) else { return };
    let named = starts_with_folded(text, start, b"file://") && begins_word(text, start);
    let path = start + 7;
    if named && byte_at(text, path).is_some_and(is_path) {
        hits.add(text, Rule::LocalPath, start, path, Tail::Class(is_path));
    }
}

/// `C:\dir` with one or two backslashes.
pub(in crate::redact) fn drive_path(text: &[u8], at: usize, hits: &mut Hits) {
    if !byte_at(text, at).is_some_and(|byte| byte.is_ascii_alphabetic()) || !begins_word(text, at) {
        return;
    }
    let slashes = run(text, at + 2, |byte| byte == b'\\', 3);
    let segment = at + 2 + slashes;
    let length = run(text, segment, is_segment, SEGMENT_BYTES_MAX);
    let nested = byte_at(text, segment + length) == Some(b'\\');
    // `Q:\nText` in a JSON string is a line break.
    let escape = slashes == 1 && matches!(byte_at(text, segment), Some(b'n' | b'r' | b't' | b'"'));
    if matches!(slashes, 1 | 2) && length > 0 && (nested || !escape) {
        hits.add(text, Rule::LocalPath, at, segment, Tail::Class(is_windows_path));
    }
}

/// `\\host\share`.
pub(in crate::redact) fn unc_path(text: &[u8], at: usize, hits: &mut Hits) {
    share(text, at, 2, 1, hits);
}

/// `\\\\host\\share`, as JSON writes it.
pub(in crate::redact) fn unc_path_escaped(text: &[u8], at: usize, hits: &mut Hits) {
    if run_back(text, at, |byte| byte == b'\\', 1) == 0 {
        share(text, at, 4, 2, hits);
    }
}

fn share(text: &[u8], at: usize, before: usize, between: usize, hits: &mut Hits) {
    let host = at + before;
    let length = run(text, host, |byte| is_word(byte) || matches!(byte, b'.' | b'-'), SEGMENT_BYTES_MAX);
    let share = host + length + between;
    let slashes = run(text, host + length, |byte| byte == b'\\', between + 1);
    let begins = marker::ending_at(text, at).is_none();
    if begins && length >= 2 && slashes == between && byte_at(text, share).is_some_and(is_segment) {
        hits.add(text, Rule::LocalPath, at, share, Tail::Class(is_windows_path));
    }
}

fn is_path(byte: u8) -> bool {
    let stops = matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b',' | b';' | b':' | b'\\')
        || matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'?' | b'&' | b'#');
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !stops
}

fn is_segment(byte: u8) -> bool {
    is_path(byte) && byte != b'/'
}

fn is_windows_path(byte: u8) -> bool {
    is_path(byte) || byte == b'\\'
}
