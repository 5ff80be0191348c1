//! What people see, in the order they saw it.

use serde::Serialize;
use serde_json::Value;

use super::blocks;
use super::message::Message;
use super::world::World;

/// Name and version of the transcript format.
pub const TRANSCRIPT_FORMAT: &str = "loom-slack-transcript/1";

/// Everything people saw; see the module documentation for the published form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ledger {
    /// [`TRANSCRIPT_FORMAT`].
    pub format: &'static str,
    /// Team id.
    pub team: String,
    /// App id.
    pub app: String,
    /// Messages in the order they appeared, over all conversations.
    pub messages: Vec<LedgerMessage>,
}

/// One message people saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerMessage {
    /// Conversation id.
    pub channel: String,
    /// Timestamp id.
    pub ts: String,
    /// Thread root, if it is a reply.
    pub thread_ts: Option<String>,
    /// Whether a reply also shows in the conversation.
    pub broadcast: bool,
    /// User id, or bot id of a bot without user.
    pub author: String,
    /// Whether the app under test wrote it.
    pub by_app: bool,
    /// Text on the wire, as it stands now.
    pub text: String,
    /// Blocks the author gave.
    pub blocks: Option<Value>,
    /// Files in order.
    pub files: Vec<LedgerFile>,
    /// Metadata given with it.
    pub metadata: Option<Value>,
    /// Who would have been notified: user ids, `!here`, `!channel`, `!everyone`, `!subteam^…`.
    pub pings: Vec<String>,
    /// Earlier texts, oldest first.
    pub edits: Vec<LedgerEdit>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Reactions that stand now.
    pub reactions: Vec<LedgerReaction>,
    /// The only person who saw it, if it was ephemeral.
    pub ephemeral_to: Option<String>,
}

/// A file below a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerFile {
    /// File id.
    pub id: String,
    /// File name.
    pub name: String,
    /// Size in bytes.
    pub size: usize,
    /// Lower-case hex SHA-256 of the bytes.
    pub sha256: String,
}

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerEdit {
    /// When.
    pub ts: String,
    /// The text before it.
    pub previous_text: String,
}

/// One emoji and its users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerReaction {
    /// Emoji name without colons.
    pub name: String,
    /// Users in order.
    pub users: Vec<String>,
}

impl Ledger {
    /// Messages of the app under test that still stand.
    pub fn by_app(&self) -> impl Iterator<Item = &LedgerMessage> {
        self.messages.iter().filter(|m| m.by_app && !m.deleted)
    }

    /// The message with this timestamp in this conversation.
    pub fn message(&self, channel: &str, ts: &str) -> Option<&LedgerMessage> {
        self.messages.iter().find(|m| m.channel == channel && m.ts == ts)
    }

    /// Messages of a thread, root first.
    pub fn thread(&self, channel: &str, root: &str) -> Vec<&LedgerMessage> {
        let of_thread = |m: &&LedgerMessage| {
            m.channel == channel && (m.ts == root || m.thread_ts.as_deref() == Some(root))
        };
        self.messages.iter().filter(of_thread).collect()
    }
}

/// The order in which messages appeared over all conversations.
#[derive(Debug, Default)]
pub(super) struct SeenOrder(Vec<(String, String)>);

impl SeenOrder {
    pub(super) fn push(&mut self, channel: &str, ts: &str) {
        self.0.push((channel.to_owned(), ts.to_owned()));
    }
}

impl World {
    pub(super) fn ledger(&self) -> Ledger {
        let mut seen: std::collections::BTreeMap<(&str, &str), &Message> = std::collections::BTreeMap::new();
        for channel in self.channels.values() {
            for message in &channel.messages {
                seen.insert((&channel.id, &message.ts), message);
            }
        }
        let find = |(channel, ts): &(String, String)| {
            seen.get(&(channel.as_str(), ts.as_str())).map(|m| self.ledger_message(channel, m))
        };
        let messages = self.order.0.iter().filter_map(find).collect();
        let (team, app) = (self.cfg.team.clone(), self.cfg.app.clone());
        Ledger { format: TRANSCRIPT_FORMAT, team, app, messages }
    }

    fn ledger_message(&self, channel: &str, m: &Message) -> LedgerMessage {
        let edits = m.edits.iter();
        let reactions = m.reactions.iter();
        LedgerMessage {
            channel: channel.to_owned(),
            ts: m.ts.clone(),
            thread_ts: m.thread_ts.clone().filter(|_| m.is_reply()),
            broadcast: m.broadcast,
            author: m.user.clone().or_else(|| m.bot_id.clone()).unwrap_or_default(),
            by_app: m.bot_id.as_deref() == Some(self.cfg.bot_id.as_str()),
            text: m.text.clone(),
            blocks: m.blocks.clone(),
            files: m.files.iter().filter_map(|id| self.files.get(id)).map(ledger_file).collect(),
            metadata: m.metadata.clone(),
            pings: blocks::pings(&m.text),
            edits: edits
                .map(|e| LedgerEdit { ts: e.ts.clone(), previous_text: e.previous_text.clone() })
                .collect(),
            deleted: m.deleted_at.is_some(),
            reactions: reactions
                .map(|r| LedgerReaction { name: r.name.clone(), users: r.users.clone() })
                .collect(),
            ephemeral_to: m.ephemeral_to.clone(),
        }
    }
}

fn ledger_file(file: &super::files::FileRecord) -> LedgerFile {
    let (id, name, size) = (file.id.clone(), file.name.clone(), file.bytes.len());
    LedgerFile { id, name, size, sha256: file.sha256() }
}
