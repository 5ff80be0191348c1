//! A message of the platform as a message of ours: its text, its mentions by id, what hangs on it.

use loom_domain::Timestamp;
use loom_domain::text::prefix;
use serde_json::Value;

use super::output::{Attachment, Mention, Message, Sender, TEXT_BYTES_MAX};

/// Most mentions and attachments.
const MENTIONS_MAX: usize = 500;
const ATTACHMENTS_MAX: usize = 100;
/// Deepest nesting of a post that is read.
const DEPTH_MAX: usize = 8;

/// The message of a provider's item; none without an id.
pub(super) fn of(item: &Value) -> Option<Message> {
    let text_of = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
    let is = |key: &str| item.get(key).and_then(Value::as_bool).unwrap_or(false);
    let content = item.pointer("/body/content").and_then(Value::as_str).unwrap_or_default();
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    let kind = text_of("msg_type").unwrap_or_default();
    let mut parts = Parts::default();
    parts.read(&kind, &content);
    let (text, text_bytes, truncated) = cut(parts.text.trim_end_matches('\n'), TEXT_BYTES_MAX);
    Some(Message {
        message_id: text_of("message_id")?,
        chat_id: text_of("chat_id"),
        thread_id: text_of("thread_id"),
        root_id: text_of("root_id"),
        parent_id: text_of("parent_id"),
        msg_type: Some(kind),
        created_at: time(item.get("create_time")),
        updated_at: time(item.get("update_time")),
        edited: is("updated"),
        recalled: is("deleted"),
        sender: item.get("sender").map(sender),
        mentions: mentions(item),
        text,
        text_bytes,
        truncated,
        attachments: parts.attachments,
    })
}

/// A text cut at its limit, its full length, and whether it was cut.
pub(super) fn cut(text: &str, bytes_max: usize) -> (String, u64, bool) {
    (prefix(text, bytes_max).to_owned(), text.len() as u64, text.len() > bytes_max)
}

/// Milliseconds as text.
fn time(value: Option<&Value>) -> Option<String> {
    let ms: i64 = value?.as_str()?.parse().ok()?;
    Some(Timestamp(ms).to_string())
}

fn word(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn sender(value: &Value) -> Sender {
    Sender { id: word(value, "id"), id_type: word(value, "id_type"), sender_type: word(value, "sender_type") }
}

fn mentions(item: &Value) -> Vec<Mention> {
    let all = item.get("mentions").and_then(Value::as_array).into_iter().flatten();
    let read = |one: &Value| Mention { key: word(one, "key"), id: word(one, "id"), name: word(one, "name") };
    all.take(MENTIONS_MAX).map(read).collect()
}

#[derive(Default)]
struct Parts {
    text: String,
    attachments: Vec<Attachment>,
}

impl Parts {
    fn read(&mut self, kind: &str, content: &Value) {
        match kind {
            "text" => self.text.push_str(content.get("text").and_then(Value::as_str).unwrap_or_default()),
            "post" => {
                if let Some(title) =
                    content.get("title").and_then(Value::as_str).filter(|title| !title.is_empty())
                {
                    self.text.push_str(title);
                    self.text.push('\n');
                }
                self.post(content.get("content").unwrap_or(&Value::Null), 0);
            }
            "image" | "file" | "audio" | "media" | "sticker" => self.attach(kind, content),
            _ => {}
        }
    }

    /// Paragraphs of elements; each paragraph is a line.
    fn post(&mut self, node: &Value, depth: usize) {
        match node {
            Value::Array(nodes) if depth < DEPTH_MAX => {
                for node in nodes {
                    self.post(node, depth + 1);
                    if depth == 0 {
                        self.text.push('\n');
                    }
                }
            }
            Value::Object(_) => self.element(node),
            _ => {}
        }
    }

    fn element(&mut self, element: &Value) {
        let text = |key: &str| element.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("tag") {
            "at" => self.text.push_str(&format!("@{}", text("user_name"))),
            "a" => self.text.push_str(&format!("[{}]({})", text("text"), text("href"))),
            "img" => self.attach("image", element),
            "media" => self.attach("media", element),
            "hr" => self.text.push_str("---"),
            _ => self.text.push_str(text("text")),
        }
    }

    fn attach(&mut self, kind: &str, content: &Value) {
        if self.attachments.len() < ATTACHMENTS_MAX {
            let file_key = word(content, "file_key").or_else(|| word(content, "image_key"));
            let file_name = word(content, "file_name");
            self.attachments.push(Attachment { kind: kind.to_owned(), file_key, file_name });
        }
    }
}
