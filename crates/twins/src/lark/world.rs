//! What is on the platform: an app, chats with their members and messages, a document.

use bytes::Bytes;
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
    /// Message that it answers.
    pub parent: Option<String>,
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
            parent: None,
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
            "body": {"content": if self.recalled { String::new() } else { self.read_back().to_string() }},
        });
        let more = [("thread_id", &self.thread), ("parent_id", &self.parent), ("root_id", &self.parent)];
        for (name, id) in more {
            if let (Some(members), Some(id)) = (shown.as_object_mut(), id) {
                members.insert(name.to_owned(), json!(id));
            }
        }
        shown
    }
}

/// A file that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LarkFile {
    /// `img_…` or `file_…`.
    pub key: String,
    /// `message` for images, else the type it was uploaded as.
    pub kind: String,
    /// Name, of files.
    pub name: String,
    /// Bytes.
    pub bytes: Bytes,
}

/// A reaction of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LarkReaction {
    /// Id.
    pub id: String,
    /// Message.
    pub message: String,
    /// Type, such as `OnIt`.
    pub emoji: String,
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
    /// State of the app in the tenant; 2 is enabled.
    pub activate_status: i64,
    /// Whether groups know topics.
    pub topics: bool,
    /// Whether posts are taken; without, each is a bad parameter.
    pub posts: bool,
    /// How long a uuid is remembered, milliseconds.
    pub uuid_memory_ms: u64,
    /// Uploaded files.
    pub files: Vec<LarkFile>,
    /// Reactions.
    pub reactions: Vec<LarkReaction>,
    /// Uuids with the message that each made and when.
    pub(super) uuids: Vec<(String, String, u64)>,
}

impl World {
    /// The messages of the app, oldest first.
    pub fn sent(&self) -> Vec<LarkMessage> {
        self.messages.iter().filter(|message| message.sender == self.app.0).cloned().collect()
    }
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
            activate_status: 2,
            topics: true,
            posts: true,
            uuid_memory_ms: 3_600_000,
            files: Vec::new(),
            reactions: Vec::new(),
            uuids: Vec::new(),
        }
    }
}
