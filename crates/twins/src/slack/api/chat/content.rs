//! What a message may contain, and the limits on it.

use serde_json::Value;

use crate::slack::api::Failure;
use crate::slack::params::Params;

/// Characters after which `text` may be split.
pub(super) const TEXT_SPLIT_CHARS: usize = 4_000;
/// Characters after which `text` is cut.
const TEXT_MAX_CHARS: usize = 40_000;
/// Characters of `markdown_text`.
const MARKDOWN_MAX_CHARS: usize = 12_000;
/// Blocks of a message.
const BLOCKS_MAX: usize = 50;
/// Characters of all blocks together.
const BLOCKS_CHARS_MAX: usize = 13_200;
/// Attachments of a message.
const ATTACHMENTS_MAX: usize = 100;

/// What a call wants to show.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) blocks: Option<Value>,
    pub(super) attachments: Option<Value>,
    pub(super) truncated: bool,
    pub(super) is_markdown: bool,
}

/// Reads and checks what shall be shown.
pub(super) fn content(params: &Params) -> Result<Content, Failure> {
    let blocks = structured(params, "blocks", "invalid_blocks")?;
    let attachments = structured(params, "attachments", "invalid_attachments")?;
    check_blocks(blocks.as_ref())?;
    if attachments.as_ref().and_then(Value::as_array).is_some_and(|a| a.len() > ATTACHMENTS_MAX) {
        return Err("too_many_attachments".into());
    }
    let mut content = Content { blocks, attachments, ..Content::default() };
    let text = params.text("text");
    if let Some(markdown) = params.text("markdown_text") {
        if text.is_some() || content.blocks.is_some() {
            return Err("markdown_text_conflict".into());
        }
        if markdown.chars().count() > MARKDOWN_MAX_CHARS {
            return Err("msg_too_long".into());
        }
        (content.text, content.is_markdown) = (markdown.to_owned(), true);
        return Ok(content);
    }
    let text = text.unwrap_or_default();
    if text.trim().is_empty() && content.blocks.is_none() && content.attachments.is_none() {
        return Err("no_text".into());
    }
    content.truncated = text.chars().count() > TEXT_MAX_CHARS;
    content.text = text.chars().take(TEXT_MAX_CHARS).collect();
    Ok(content)
}

fn structured(params: &Params, name: &str, error: &'static str) -> Result<Option<Value>, Failure> {
    match params.json(name) {
        None => Ok(None),
        Some(Ok(Value::Array(list))) if list.is_empty() => Ok(None),
        Some(Ok(value @ Value::Array(_))) => Ok(Some(value)),
        Some(_) => Err(error.into()),
    }
}

fn check_blocks(blocks: Option<&Value>) -> Result<(), Failure> {
    let Some(list) = blocks.and_then(Value::as_array) else { return Ok(()) };
    if list.len() > BLOCKS_MAX || list.iter().any(|b| b.get("type").and_then(Value::as_str).is_none()) {
        return Err("invalid_blocks".into());
    }
    let chars: usize = list.iter().map(text_chars).sum();
    if chars > BLOCKS_CHARS_MAX { Err("msg_blocks_too_long".into()) } else { Ok(()) }
}

fn text_chars(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) if key == "text" => text.chars().count(),
                other => text_chars(other),
            })
            .sum(),
        Value::Array(list) => list.iter().map(text_chars).sum(),
        _ => 0,
    }
}

/// Reads and checks the metadata.
pub(super) fn metadata(params: &Params) -> Result<Option<Value>, Failure> {
    match params.json("metadata") {
        None => Ok(None),
        Some(Ok(value))
            if value.get("event_type").is_some_and(Value::is_string)
                && value.get("event_payload").is_some_and(Value::is_object) =>
        {
            Ok(Some(value))
        }
        Some(_) => Err("invalid_metadata_format".into()),
    }
}
