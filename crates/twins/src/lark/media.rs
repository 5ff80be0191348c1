//! Uploads and downloads.

use bytes::Bytes;
use serde_json::{Value, json};

use super::serve::envelope;
use super::world::{LarkFile, World};
use crate::front::Call;
use crate::front::answer::Answer;

/// Largest image, bytes.
const IMAGE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Largest file, bytes.
const FILE_BYTES_MAX: usize = 30 * 1024 * 1024;
/// Parts of a form that are read.
const PARTS_MAX: usize = 16;
/// Types of an upload.
const TYPES: &[&str] = &["opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"];

/// First bytes of images that the platform knows.
const SIGNATURES: &[&[u8]] = &[b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM"];

/// Takes an image.
pub(super) fn image(call: &Call, world: &mut World) -> Answer {
    let form = form(call);
    let bytes = field(&form, "image");
    match bytes {
        Some(bytes) if bytes.is_empty() => refuse(234_010, "File's size can't be 0."),
        Some(bytes) if bytes.len() > IMAGE_BYTES_MAX => {
            refuse(234_006, "The file size exceed the max value.")
        }
        Some(bytes) if !SIGNATURES.iter().any(|start| bytes.starts_with(start)) => {
            refuse(234_011, "Can't regonnize the image format.")
        }
        Some(bytes) if text(&form, "image_type") == "message" => {
            let key = format!("img_v3_{:08}", world.files.len() + 1);
            let file = LarkFile { key: key.clone(), kind: "message".into(), name: String::new(), bytes };
            world.files.push(file);
            envelope(200, 0, "success", &json!({"image_key": key}))
        }
        _ => refuse(234_001, "Invalid request param."),
    }
}

/// Takes a file.
pub(super) fn file(call: &Call, world: &mut World) -> Answer {
    let form = form(call);
    let (kind, name) = (text(&form, "file_type"), text(&form, "file_name"));
    match field(&form, "file") {
        Some(bytes) if bytes.is_empty() => refuse(234_010, "File's size can't be 0."),
        Some(bytes) if bytes.len() > FILE_BYTES_MAX => refuse(234_006, "The file size exceed the max value."),
        Some(bytes) if TYPES.contains(&kind.as_str()) && !name.is_empty() => {
            let key = format!("file_v3_{:08}", world.files.len() + 1);
            world.files.push(LarkFile { key: key.clone(), kind, name, bytes });
            envelope(200, 0, "success", &json!({"file_key": key}))
        }
        _ => refuse(234_001, "Invalid request param."),
    }
}

/// The file of a message.
pub(super) fn resource(world: &World, message: &str, key: &str) -> Answer {
    let names = |content: &Value| content.to_string().contains(&format!("\"{key}\""));
    let is_there = world.messages.iter().any(|one| one.id == message && names(&one.content));
    match world.files.iter().find(|file| file.key == key && is_there) {
        Some(file) => Answer {
            status: 200,
            content_type: "application/octet-stream".into(),
            headers: Vec::new(),
            body: file.bytes.clone(),
        },
        None => refuse(234_003, "File not in msg."),
    }
}

fn refuse(code: i64, words: &str) -> Answer {
    envelope(400, code, words, &Value::Null)
}

fn field(form: &[(String, Bytes)], name: &str) -> Option<Bytes> {
    form.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.clone())
}

fn text(form: &[(String, Bytes)], name: &str) -> String {
    field(form, name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The parts of a multipart form, by the names of their fields alone.
fn form(call: &Call) -> Vec<(String, Bytes)> {
    let kind = call.header("content-type").unwrap_or_default();
    let Some((_, boundary)) = kind.split_once("boundary=") else { return Vec::new() };
    let delimiter = format!("--{}", boundary.trim_matches('"'));
    let mut parts = Vec::new();
    let mut at = find(&call.body, delimiter.as_bytes(), 0).map(|start| start + delimiter.len());
    while let Some(start) = at.filter(|_| parts.len() < PARTS_MAX) {
        let Some(end) = find(&call.body, format!("\r\n{delimiter}").as_bytes(), start) else { break };
        let part = call.body.slice(start..end);
        if let Some(head) = find(&part, b"\r\n\r\n", 0) {
            let words = String::from_utf8_lossy(&part.slice(..head)).into_owned();
            let name = words.split_once("name=\"").and_then(|(_, rest)| rest.split_once('"'));
            parts.extend(name.map(|(name, _)| (name.to_owned(), part.slice(head + 4..))));
        }
        at = Some(end + 2 + delimiter.len());
    }
    parts
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}
