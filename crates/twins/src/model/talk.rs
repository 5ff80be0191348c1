//! A conversation in no dialect: what a request says, as far as the twin cares.

use serde_json::Value;

/// One entry of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// Something the user wrote.
    User(String),
    /// Something the model wrote or called.
    Assistant,
    /// What a tool gave back.
    ToolResult(String),
}

/// A tool the client offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    /// Namespace, in dialects that have one.
    pub(super) namespace: Option<String>,
    /// Name.
    pub(super) name: String,
}

/// A parsed request.
#[derive(Debug, Clone, Default)]
pub(super) struct Talk {
    /// History in order.
    pub(super) entries: Vec<Entry>,
    /// Tools offered.
    pub(super) tools: Vec<Tool>,
    /// Model asked for.
    pub(super) model: String,
}

/// Beginnings of user texts that a client adds by itself.
const SCAFFOLD: [&str; 5] =
    ["<environment_context>", "# AGENTS.md", "<user_instructions>", "<system-reminder>", "<permissions"];

impl Talk {
    /// Adds a user text unless it is scaffolding of the client.
    pub(super) fn user(&mut self, text: &str) {
        if !SCAFFOLD.iter().any(|start| text.trim_start().starts_with(start)) {
            self.entries.push(Entry::User(text.to_owned()));
        }
    }

    /// The last user text, or nothing.
    pub(super) fn last_user(&self) -> &str {
        let found = self.entries.iter().rev().find_map(|entry| match entry {
            Entry::User(text) => Some(text.as_str()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// How many user texts there are.
    pub(super) fn users(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::User(_))).count()
    }

    /// The tool result that stands last, when one does.
    pub(super) fn fresh_result(&self) -> Option<&str> {
        match self.entries.last() {
            Some(Entry::ToolResult(text)) => Some(text),
            _ => None,
        }
    }
}

/// The text of a content value: a string, or the `text` members of its parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// A member that is a text, or the empty text.
pub(super) fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a list, or the empty list.
pub(super) fn list_at<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
