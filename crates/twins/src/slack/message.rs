//! One message as stored, and as the Web API and events show it.

use serde_json::{Map, Value, json};

use super::world::World;

/// A stored message; nothing is ever removed, deletion is a mark.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    pub(super) ts: String,
    pub(super) user: Option<String>,
    pub(super) bot_id: Option<String>,
    pub(super) app_id: Option<String>,
    pub(super) username: Option<String>,
    pub(super) subtype: Option<String>,
    pub(super) text: String,
    pub(super) blocks: Option<Value>,
    pub(super) attachments: Option<Value>,
    pub(super) thread_ts: Option<String>,
    pub(super) broadcast: bool,
    pub(super) files: Vec<String>,
    pub(super) metadata: Option<Value>,
    pub(super) edits: Vec<Edit>,
    pub(super) deleted_at: Option<String>,
    pub(super) reactions: Vec<Reaction>,
    pub(super) client_msg_id: Option<String>,
    pub(super) ephemeral_to: Option<String>,
}

/// One edit: who, when, and the text that was replaced.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) ts: String,
    pub(super) user: String,
    pub(super) previous_text: String,
}

/// One emoji and who used it, in order.
#[derive(Debug, Clone)]
pub(super) struct Reaction {
    pub(super) name: String,
    pub(super) users: Vec<String>,
}

/// How much of the metadata a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetadataView {
    Full,
    TypeOnly,
    None,
}

impl Message {
    /// The root of its thread: its own `ts` unless it is a reply.
    pub(super) fn root(&self) -> &str {
        self.thread_ts.as_deref().unwrap_or(&self.ts)
    }

    pub(super) fn is_reply(&self) -> bool {
        self.thread_ts.as_deref().is_some_and(|root| root != self.ts)
    }

    /// Replaces the text and remembers the old one.
    pub(super) fn edit(&mut self, ts: &str, user: &str, text: String) {
        let previous_text = std::mem::replace(&mut self.text, text);
        self.edits.push(Edit { ts: ts.to_owned(), user: user.to_owned(), previous_text });
    }

    /// Whether people can still see it in the conversation.
    pub(super) fn is_visible(&self) -> bool {
        self.deleted_at.is_none() && self.ephemeral_to.is_none()
    }

    /// The message object of events and of the Web API.
    pub(super) fn view(&self, world: &World, channel: &str, metadata: MetadataView) -> Map<String, Value> {
        let mut m = Map::new();
        m.insert("type".into(), json!("message"));
        m.insert("ts".into(), json!(self.ts));
        m.insert("text".into(), json!(self.text));
        m.insert("team".into(), json!(world.cfg.team));
        put(&mut m, "subtype", self.subtype.as_ref());
        put(&mut m, "user", self.user.as_ref());
        put(&mut m, "bot_id", self.bot_id.as_ref());
        put(&mut m, "app_id", self.app_id.as_ref());
        put(&mut m, "username", self.username.as_ref());
        put(&mut m, "client_msg_id", self.client_msg_id.as_ref());
        put(&mut m, "blocks", self.blocks.as_ref());
        put(&mut m, "attachments", self.attachments.as_ref());
        self.put_bot_profile(world, &mut m);
        self.put_thread(world, channel, &mut m);
        self.put_parts(world, &mut m);
        put(&mut m, "metadata", self.metadata_view(metadata).as_ref());
        m
    }

    fn put_bot_profile(&self, world: &World, m: &mut Map<String, Value>) {
        if self.bot_id.as_deref() == Some(world.cfg.bot_id.as_str()) {
            let profile = json!({"id": world.cfg.bot_id, "app_id": world.cfg.app, "name": "loom",
                "team_id": world.cfg.team, "deleted": false});
            m.insert("bot_profile".into(), profile);
        }
    }

    fn put_thread(&self, world: &World, channel: &str, m: &mut Map<String, Value>) {
        if self.is_reply() {
            put(m, "thread_ts", self.thread_ts.as_ref());
            let parent = world.message(channel, self.root()).and_then(|r| r.user.clone());
            put(m, "parent_user_id", parent.as_ref());
            return;
        }
        let replies = world.replies(channel, &self.ts);
        if let Some(latest) = replies.last() {
            m.insert("thread_ts".into(), json!(self.ts));
            m.insert("reply_count".into(), json!(replies.len()));
            m.insert("latest_reply".into(), json!(latest));
        }
    }

    fn put_parts(&self, world: &World, m: &mut Map<String, Value>) {
        if !self.files.is_empty() {
            let files: Vec<Value> = self.files.iter().filter_map(|id| world.file_view(id)).collect();
            m.insert("files".into(), json!(files));
            m.insert("upload".into(), json!(true));
        }
        if let Some(edit) = self.edits.last() {
            m.insert("edited".into(), json!({"user": edit.user, "ts": edit.ts}));
        }
        if !self.reactions.is_empty() {
            m.insert("reactions".into(), self.reactions_view());
        }
    }

    /// The `reactions` array.
    pub(super) fn reactions_view(&self) -> Value {
        self.reactions
            .iter()
            .map(|r| json!({"name": r.name, "users": r.users, "count": r.users.len()}))
            .collect()
    }

    fn metadata_view(&self, view: MetadataView) -> Option<Value> {
        let metadata = self.metadata.as_ref()?;
        match view {
            MetadataView::Full => Some(metadata.clone()),
            MetadataView::TypeOnly => {
                Some(json!({"event_type": metadata.get("event_type"), "event_payload": {}}))
            }
            MetadataView::None => None,
        }
    }
}

/// Inserts the value if there is one.
pub(super) fn put<T: serde::Serialize>(m: &mut Map<String, Value>, key: &str, value: Option<&T>) {
    if let Some(value) = value {
        m.insert(key.into(), json!(value));
    }
}
