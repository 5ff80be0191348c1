//! What is on the platform: an app, chats with their members and messages, a document.

use serde_json::{Value, json};

/// First message's time, Unix milliseconds.
const START_MS: u64 = 1_767_225_600_000;
/// Time between two messages, milliseconds.
const STEP_MS: u64 = 60_000;

/// One message of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct LarkMessage {
    /// `om_…`.
    pub id: String,
    /// Chat.
    pub chat: String,
    /// Thread, if it stands in one.
    pub thread: Option<String>,
    /// Type, such as `text`.
    pub kind: String,
    /// Content as the platform writes it: a JSON document.
    pub content: Value,
    /// Unix milliseconds.
    pub created_ms: u64,
    /// Whether it was edited.
    pub edited: bool,
    /// Whether it was recalled.
    pub recalled: bool,
    /// Open id of the sender; an app id for the app itself.
    pub sender: String,
    /// Key, open id and name of each mention.
    pub mentions: Vec<(String, String, String)>,
}

impl LarkMessage {
    /// A text in a chat.
    pub fn text(n: u64, chat: &str, text: &str) -> Self {
        Self {
            id: format!("om_{n:08}"),
            chat: chat.to_owned(),
            thread: None,
            kind: "text".to_owned(),
            content: json!({"text": text}),
            created_ms: START_MS + n * STEP_MS,
            edited: false,
            recalled: false,
            sender: "ou_ann".to_owned(),
            mentions: Vec::new(),
        }
    }

    pub(super) fn shown(&self) -> Value {
        let app = self.sender.starts_with("cli_");
        let mentions: Vec<Value> = self
            .mentions
            .iter()
            .map(|(key, id, name)| json!({"key": key, "id": id, "id_type": "open_id", "name": name, "tenant_key": "t1"}))
            .collect();
        let mut shown = json!({
            "message_id": self.id, "msg_type": self.kind, "chat_id": self.chat,
            "create_time": self.created_ms.to_string(), "update_time": (self.created_ms + u64::from(self.edited)).to_string(),
            "deleted": self.recalled, "updated": self.edited, "mentions": mentions,
            "sender": {"id": self.sender, "id_type": if app { "app_id" } else { "open_id" },
                "sender_type": if app { "app" } else { "user" }, "tenant_key": "t1"},
            "body": {"content": if self.recalled { String::new() } else { self.content.to_string() }},
        });
        if let (Some(members), Some(thread)) = (shown.as_object_mut(), &self.thread) {
            members.insert("thread_id".to_owned(), json!(thread));
        }
        shown
    }
}

/// Everything a twin knows.
#[derive(Debug, Clone)]
pub struct World {
    /// App id and secret.
    pub app: (String, String),
    /// Chats: id and name.
    pub chats: Vec<(String, String)>,
    /// Members of every chat: open id and name.
    pub members: Vec<(String, String)>,
    /// Messages in the order of their creation.
    pub messages: Vec<LarkMessage>,
    /// Documents: token, title, text.
    pub documents: Vec<(String, String, String)>,
    /// Life of a token, seconds.
    pub expire_seconds: u64,
}

impl Default for World {
    /// An app in one chat with 120 messages, and one document.
    fn default() -> Self {
        let chat = "oc_general";
        Self {
            app: ("cli_a000000000000001".to_owned(), "twin-app-secret-0001".to_owned()),
            chats: vec![(chat.to_owned(), "General".to_owned())],
            members: vec![("ou_ann".to_owned(), "Ann".to_owned()), ("ou_bob".to_owned(), "Bob".to_owned())],
            messages: (1..=120).map(|n| LarkMessage::text(n, chat, &format!("message {n}"))).collect(),
            documents: vec![(
                "doxcnTwinDocument001".to_owned(),
                "Notes".to_owned(),
                "line 1\nline 2\n".to_owned(),
            )],
            expire_seconds: 7_200,
        }
    }
}
