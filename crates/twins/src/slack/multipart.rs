//! A small reader of `multipart/form-data` bodies.

/// One part of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) name: String,
    pub(super) bytes: &'a [u8],
}

/// Splits a body into its parts; malformed pieces are left out.
pub(super) fn parts<'a>(content_type: &str, body: &'a [u8]) -> Vec<Part<'a>> {
    let Some(boundary) = boundary(content_type) else { return Vec::new() };
    let delimiter = format!("--{boundary}").into_bytes();
    let mut out = Vec::new();
    let mut rest = body;
    while let Some((_, after)) = split_once(rest, &delimiter) {
        let Some((piece, _)) = split_once(after, &delimiter) else { break };
        out.extend(part(piece));
        rest = after;
    }
    out
}

fn boundary(content_type: &str) -> Option<&str> {
    let value = content_type.split(';').find_map(|p| p.trim().strip_prefix("boundary="))?;
    Some(value.trim_matches('"')).filter(|b| !b.is_empty())
}

fn part(piece: &[u8]) -> Option<Part<'_>> {
    let (head, body) = split_once(piece, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(head);
    let disposition = head.lines().find(|l| l.to_ascii_lowercase().starts_with("content-disposition"))?;
    let name = disposition.split(';').find_map(|p| p.trim().strip_prefix("name="))?;
    let bytes = body.strip_suffix(b"\r\n").unwrap_or(body);
    Some(Part { name: name.trim_matches('"').to_owned(), bytes })
}

fn split_once<'a>(haystack: &'a [u8], needle: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = haystack.windows(needle.len()).position(|w| w == needle)?;
    Some((haystack.get(..at)?, haystack.get(at + needle.len()..)?))
}
