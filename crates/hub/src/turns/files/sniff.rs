//! Types of files by their first bytes; names and declarations are the sender's word only.

/// Types that pass the policy `safe`, with the endings that may name them.
const SAFE: &[(&str, &[&str])] = &[
    ("image/png", &["png"]),
    ("image/jpeg", &["jpg", "jpeg"]),
    ("image/gif", &["gif"]),
    ("image/webp", &["webp"]),
    ("application/pdf", &["pdf"]),
    ("text/plain", &["txt", "md", "csv", "json", "log"]),
    ("application/vnd.openxmlformats-officedocument", &["docx", "xlsx", "pptx"]),
    ("audio/mpeg", &["mp3"]),
    ("audio/mp4", &["m4a"]),
    ("audio/ogg", &["ogg", "opus"]),
    ("audio/wav", &["wav"]),
    ("video/mp4", &["mp4"]),
    ("video/webm", &["webm"]),
];
const TEXT_LOOKED_AT: usize = 4_096;

fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default()
}

/// The type of a file by its bytes.
pub(crate) fn sniff(bytes: &[u8], name: &str) -> &'static str {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let at = |place: usize, magic: &[u8]| bytes.get(place..place + magic.len()) == Some(magic);
    match () {
        () if starts(b"\x89PNG\r\n\x1a\n") => "image/png",
        () if starts(b"\xff\xd8\xff") => "image/jpeg",
        () if starts(b"GIF87a") || starts(b"GIF89a") => "image/gif",
        () if starts(b"RIFF") && at(8, b"WEBP") => "image/webp",
        () if starts(b"RIFF") && at(8, b"WAVE") => "audio/wav",
        () if starts(b"%PDF-") => "application/pdf",
        () if starts(b"PK\x03\x04") && is_office(bytes, name) => {
            "application/vnd.openxmlformats-officedocument"
        }
        () if starts(b"PK") || starts(b"\x1f\x8b") || starts(b"7z\xbc\xaf") || starts(b"Rar!") => {
            "application/zip"
        }
        () if starts(b"OggS") => "audio/ogg",
        () if starts(b"ID3") || starts(b"\xff\xfb") || starts(b"\xff\xf3") => "audio/mpeg",
        () if at(4, b"ftypM4A") => "audio/mp4",
        () if at(4, b"ftyp") => "video/mp4",
        () if starts(b"\x1a\x45\xdf\xa3") => "video/webm",
        () if starts(b"MZ") || starts(b"\x7fELF") || starts(b"#!") || starts(b"\xcf\xfa\xed\xfe") => {
            "application/x-executable"
        }
        () if is_markup(bytes) => "text/html",
        () if is_text(bytes) => "text/plain",
        () => "application/octet-stream",
    }
}

/// An office document holds its content types first; any other archive does not pass for one.
fn is_office(bytes: &[u8], name: &str) -> bool {
    let head = bytes.get(..bytes.len().min(TEXT_LOOKED_AT)).unwrap_or_default();
    let holds = |needle: &[u8]| head.windows(needle.len()).any(|window| window == needle);
    ["docx", "xlsx", "pptx"].contains(&ending(name).as_str()) && holds(b"[Content_Types].xml")
}

fn is_markup(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(TEXT_LOOKED_AT)).unwrap_or_default();
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    ["<!doctype html", "<html", "<svg", "<?xml", "<script", "<body", "<head"]
        .iter()
        .any(|tag| text.starts_with(tag))
}

fn is_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(TEXT_LOOKED_AT)).unwrap_or_default();
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !head.contains(&0)
}

/// Whether a file passes the policy `safe`: a safe type whose name and declaration agree with it.
pub(crate) fn is_safe(found: &str, declared: Option<&str>, name: &str) -> bool {
    let Some((_, endings)) = SAFE.iter().find(|(mime, _)| *mime == found) else { return false };
    let is_named = endings.contains(&ending(name).as_str());
    let family = |mime: &str| mime.split('/').next().unwrap_or_default().to_owned();
    let declared_fits = declared.is_none_or(|d| {
        d.is_empty()
            || d.starts_with("application/")
            || d.starts_with("binary/")
            || family(d) == family(found)
    });
    is_named && declared_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-114: what a file is, not what it is called, decides.
    #[test]
    fn msg_114_executables_archives_markup_and_mislabelled_files_are_not_safe() {
        let safe =
            |bytes: &[u8], name: &str, declared: &str| is_safe(sniff(bytes, name), Some(declared), name);
        assert!(safe(b"%PDF-1.7 x", "a.pdf", "application/pdf"));
        assert!(safe(b"a,b\n1,2", "a.csv", "text/csv"));
        assert!(safe(b"\x89PNG\r\n\x1a\nrest", "a.png", "image/png"));
        assert!(!safe(b"\x7fELF....", "a.pdf", "application/pdf"));
        assert!(!safe(b"%PDF-1.7 x", "a.png", "image/png"));
        assert!(!safe(b"PK\x03\x04....", "a.zip", "application/zip"));
        assert!(!safe(b"<svg onload=x>", "a.svg", "image/svg+xml"));
        assert!(!safe(b"<!DOCTYPE html><p>", "a.txt", "text/plain"));
        assert!(!safe(b"#!/bin/sh\n", "a.txt", "text/plain"));
        assert!(!safe(b"\0\0\0", "a.txt", "text/plain"));
    }
}
