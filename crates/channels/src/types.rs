//! Requests to a platform and its answers.

use std::path::PathBuf;

use loom_domain::{
    AttemptId, ConversationType, InboundEvent, OutboxId, PartId, TextFormat, Timestamp,
    outbox::{PartKind, Target},
};

/// Paces of sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// Sends per second in one conversation.
    pub conversation_per_s: u32,
    /// Burst in one conversation.
    pub conversation_burst: u32,
    /// Sends per second on the Connection.
    pub connection_per_s: u32,
}

/// Who a credential is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// App or account.
    pub account: String,
    /// Team or tenant.
    pub scope: Option<String>,
    /// Canonical identity of the bot user, such as `slack://T1/U1`.
    pub identity: String,
    /// Every id under which our own messages come back (user, bot, app).
    pub own_ids: Vec<String>,
    /// Scopes granted.
    pub scopes: Vec<String>,
    /// Scopes wanted but not granted.
    pub missing_scopes: Vec<String>,
}

/// One Part to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendPart {
    /// Attempt.
    pub attempt_id: AttemptId,
    /// Outbox item.
    pub outbox_id: OutboxId,
    /// Part.
    pub part_id: PartId,
    /// Place in the item, from 1.
    pub n: u32,
    /// Parts of the item.
    pub of: u32,
    /// Conversation.
    pub conversation_id: String,
    /// Kind of the conversation.
    pub conversation_type: Option<ConversationType>,
    /// Where in it.
    pub target: Target,
    /// Whether it answers an inbound message (decides the thread rule).
    pub is_reply: bool,
    /// Kind.
    pub kind: PartKind,
    /// Text of a text Part, not yet translated.
    pub text: Option<String>,
    /// Form of the text.
    pub format: TextFormat,
    /// File of a file Part.
    pub file: Option<OutFile>,
}

/// A stored file to send. The path is the store's own, opened read-only; its digest is checked before bytes leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutFile {
    /// Path of the blob.
    pub path: PathBuf,
    /// Name shown to people.
    pub name: String,
    /// Type.
    pub mime_type: String,
    /// Size, bytes.
    pub size: u64,
    /// Digest, hex SHA-256.
    pub sha256: String,
}

/// One attempt to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlePart {
    /// What was sent.
    pub part: SendPart,
    /// Provider's key recorded with the attempt (file id).
    pub provider_key: Option<String>,
    /// When the attempt started.
    pub attempted_at: Timestamp,
}

/// Which messages to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Conversation.
    pub conversation_id: String,
    /// Only this thread.
    pub thread_id: Option<String>,
    /// Provider message id after which to start (exclusive).
    pub after: Option<String>,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// At most this many; the newest ones win.
    pub limit: usize,
}

/// One message of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryMessage {
    /// The message as an inbound event.
    pub event: InboundEvent,
    /// Whether it is the bot's own.
    pub own: bool,
    /// Part named in its metadata, when it is one of our sends.
    pub part: Option<PartId>,
}

/// A page of history, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HistoryPage {
    /// Messages.
    pub messages: Vec<HistoryMessage>,
    /// Whether more messages match than were read.
    pub truncated: bool,
}

/// A fetched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Bytes.
    pub bytes: bytes::Bytes,
    /// Type the platform declared.
    pub mime_type: Option<String>,
}

/// A target to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckTarget {
    /// Conversation.
    pub conversation_id: String,
    /// Thread.
    pub thread_id: Option<String>,
    /// Message.
    pub message_id: Option<String>,
}

/// Working mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The Agent works on it.
    Working,
    /// Nothing.
    None,
}

/// A conversation the platform shows to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateInfo {
    /// Stable provider id.
    pub conversation_id: String,
    /// Kind.
    pub conversation_type: ConversationType,
    /// Name.
    pub display_name: String,
    /// Topic or description.
    pub description: String,
    /// Whether the bot is in it.
    pub bot_is_member: bool,
    /// The person of a DM.
    pub actor_id: Option<String>,
}
