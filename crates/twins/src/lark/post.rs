//! Contents of messages: what is taken, and how it is read back.

use serde_json::{Value, json};

use super::world::LarkMessage;

/// Largest content of a text, bytes.
const TEXT_BYTES_MAX: usize = 150 * 1024;
/// Largest content of a post, bytes.
const POST_BYTES_MAX: usize = 30 * 1024;

/// Why a content is not taken: a code and the platform's words.
pub(super) type Refused = (i64, &'static str);

/// Checks a content for its type.
pub(super) fn check(kind: &str, text: &str, takes_posts: bool) -> Result<Value, Refused> {
    let content: Value = serde_json::from_str(text).map_err(|_| (230_001, "content is not a JSON string"))?;
    let has = |pointer: &str| content.pointer(pointer).is_some_and(Value::is_string);
    let (fits, most) = match kind {
        "text" => (has("/text"), TEXT_BYTES_MAX),
        "post" => (takes_posts && has("/zh_cn/content/0/0/tag"), POST_BYTES_MAX),
        "image" => (has("/image_key"), POST_BYTES_MAX),
        "file" | "media" | "audio" => (has("/file_key"), POST_BYTES_MAX),
        _ => (false, POST_BYTES_MAX),
    };
    match (fits, text.len() <= most) {
        (false, _) => Err((230_001, "Your request contains an invalid request parameter, ext=content")),
        (true, false) => Err((230_025, "The message content is too long")),
        (true, true) => Ok(content),
    }
}

/// The people that a content mentions: open ids, or `all`.
pub(super) fn mentioned(content: &Value) -> Vec<String> {
    let text = content.to_string();
    let tags = text.split("<at user_id=\\\"").skip(1);
    tags.filter_map(|rest| rest.split_once("\\\"").map(|(id, _)| id.to_owned())).collect()
}

impl LarkMessage {
    /// The content as the platform shows it: a post has lost its locale, and its Markdown has become lines and blocks
    /// of code.
    pub(super) fn read_back(&self) -> Value {
        let md = self.content.pointer("/zh_cn/content/0/0").filter(|first| first["tag"] == "md");
        match md.and_then(|md| md["text"].as_str()) {
            Some(text) => json!({"title": "", "content": paragraphs(text)}),
            None => self.content.get("zh_cn").unwrap_or(&self.content).clone(),
        }
    }
}

fn paragraphs(markdown: &str) -> Vec<Value> {
    let (mut out, mut block): (Vec<Value>, Option<(String, Vec<&str>)>) = (Vec::new(), None);
    for line in markdown.split('\n') {
        let fence = line.trim_start().strip_prefix("```");
        block = match (block, fence) {
            (None, Some(language)) => Some((language.trim().to_owned(), Vec::new())),
            (None, None) => {
                out.push(json!([{"tag": "text", "text": line, "style": []}]));
                None
            }
            (Some((language, lines)), Some("")) => {
                out.push(json!([{"tag": "code_block", "language": language, "text": lines.join("\n")}]));
                None
            }
            (Some((language, mut lines)), _) => {
                lines.push(line);
                Some((language, lines))
            }
        };
    }
    if let Some((language, lines)) = block {
        out.push(json!([{"tag": "code_block", "language": language, "text": lines.join("\n")}]));
    }
    out
}
