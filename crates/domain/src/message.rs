//! Messages, their content, and the inbound event a gateway hands to the hub (messaging specification 8.2).

use serde::{Deserialize, Serialize};

use crate::{
    AddressId, ArtifactId, ConnectionId, ConversationType, EventId, Expectation, MessageId, OutboxId,
    Timestamp, reason::EventReason, words,
};

words! {
    /// Where a Message comes from.
    pub enum Origin {
        /// A platform.
        Provider = "provider",
        /// Another Agent.
        Loom = "loom",
        /// The owner.
        Owner = "owner",
    }
}

words! {
    /// Kind of a sender.
    pub enum SenderKind {
        /// A person.
        Human = "human",
        /// A bot.
        Bot = "bot",
        /// An app.
        App = "app",
        /// The platform itself.
        System = "system",
        /// Not told.
        Unknown = "unknown",
    }
}

words! {
    /// Kind of a platform event.
    pub enum EventKind {
        /// A new message.
        Message = "message",
        /// A changed message.
        Edit = "edit",
        /// A deleted message.
        Recall = "recall",
        /// A reaction or read mark.
        Reaction = "reaction",
        /// Somebody joined or left.
        Member = "member",
        /// App or token lifecycle.
        Lifecycle = "lifecycle",
        /// A kind of message that is not supported (call, vote, notice).
        Unsupported = "unsupported",
    }
}

words! {
    /// Form of a text.
    pub enum TextFormat {
        /// Markdown.
        Markdown = "markdown",
        /// Plain text.
        Plain = "plain",
    }
}

/// A conversation as an event names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRef {
    /// Stable provider id of the conversation.
    pub conversation_id: String,
    /// Root of the thread, when the message is in one.
    pub thread_id: Option<String>,
    /// Provider id of the message.
    pub message_id: Option<String>,
    /// Kind; absent when the event does not tell and the lookup has not answered.
    pub conversation_type: Option<ConversationType>,
    /// The platform's own word for the kind.
    pub platform_type: Option<String>,
}

/// Who wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sender {
    /// Stable provider id.
    pub external_id: String,
    /// Cosmetic name.
    pub display_name: Option<String>,
    /// Kind.
    pub kind: SenderKind,
}

words! {
    /// What became of a file.
    pub enum AttachmentStatus {
        /// Not fetched yet.
        Pending = "pending",
        /// In the store.
        Ready = "ready",
        /// Held until the owner releases it.
        Quarantined = "quarantined",
        /// Over a limit.
        TooLarge = "too_large",
        /// Could not be fetched.
        Failed = "failed",
        /// Not wanted by policy or over the count.
        Dropped = "dropped",
    }
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Provider's reference, opaque to the hub.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Name as given by the sender (untrusted).
    pub name: String,
    /// Declared type.
    pub mime_type: Option<String>,
    /// Declared size, bytes.
    pub size: Option<u64>,
    /// State of the fetch.
    #[serde(default = "pending_status")]
    pub status: AttachmentStatus,
    /// Why it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The stored file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    /// Digest of the stored file, hex SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

fn pending_status() -> AttachmentStatus {
    AttachmentStatus::Pending
}

/// Text and files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// Text, at most 256 KiB.
    pub text: String,
    /// Form of the text.
    pub format: TextFormat,
    /// Whether the text was cut at the limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Files, at most 20.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// A structured mention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mention {
    /// Stable provider id.
    pub external_id: String,
    /// Cosmetic name.
    pub display_name: Option<String>,
}

/// Trigger evidence, computed by the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Written in a DM.
    pub direct: bool,
    /// The Address is mentioned by id.
    pub mentioned: bool,
    /// The provider confirmed a dispatch.
    pub explicit_dispatch: bool,
}

words! {
    /// Place of a context message in its thread.
    pub enum ContextRole {
        /// The first message.
        Root = "root",
        /// A later one.
        Reply = "reply",
    }
}

/// One message of a thread's context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextMessage {
    /// Provider message id.
    pub message_id: String,
    /// Place in the thread.
    pub role: ContextRole,
    /// Sender's stable id.
    pub sender_id: String,
    /// Text.
    pub text: String,
    /// When, if told.
    pub at: Option<Timestamp>,
    /// Whether the text was cut.
    #[serde(default)]
    pub truncated: bool,
}

/// Context of a thread, read at claim time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadContext {
    /// Root and latest replies.
    pub messages: Vec<ContextMessage>,
    /// Whether messages were left out for size.
    pub truncated: bool,
    /// Messages left out because they were recalled or their sender is blocked.
    #[serde(default)]
    pub left_out: u32,
    /// Why the context could not be read.
    pub unavailable_reason: Option<String>,
}

/// A later version of a Message's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Number, from 1.
    pub n: u32,
    /// `edit` or `recall`.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// New content; absent for a recall.
    pub content: Option<Content>,
}

/// The normalised content of one platform or internal message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Id.
    pub id: MessageId,
    /// Order of commit.
    pub seq: u64,
    /// Where it comes from.
    pub origin: Origin,
    /// Provider word; absent for internal messages.
    pub provider: Option<String>,
    /// Connection; absent for internal messages.
    pub connection_id: Option<ConnectionId>,
    /// Conversation.
    pub conversation: ConversationRef,
    /// Sender.
    pub sender: Sender,
    /// Content as first received.
    pub content: Content,
    /// Structured mentions.
    #[serde(default)]
    pub mentions: Vec<Mention>,
    /// Evidence at judgement.
    pub evidence: Evidence,
    /// Context supplied or read.
    pub thread_context: Option<ThreadContext>,
    /// Whether an answer is expected.
    pub response_expectation: Expectation,
    /// When it was written.
    pub occurred_at: Timestamp,
    /// When it was stored.
    pub received_at: Timestamp,
    /// Later versions.
    #[serde(default)]
    pub revisions: Vec<Revision>,
    /// Our send that this answers.
    pub answers_outbox_id: Option<OutboxId>,
    /// From inbound event to Receipt, 32 hex.
    pub trace_id: String,
}

impl Message {
    /// The newest content.
    pub fn current(&self) -> &Content {
        self.revisions.iter().rev().find_map(|r| r.content.as_ref()).unwrap_or(&self.content)
    }

    /// The newest content, to change what is known of its files.
    pub fn current_mut(&mut self) -> &mut Content {
        self.revisions.iter_mut().rev().find_map(|r| r.content.as_mut()).unwrap_or(&mut self.content)
    }
}

words! {
    /// How an Event was judged.
    pub enum Decision {
        /// An item was queued.
        Queued = "queued",
        /// An item waits for approval of its sender.
        Pending = "pending",
        /// The event or message was known.
        Duplicate = "duplicate",
        /// A fact about a message or Connection.
        Fact = "fact",
        /// Refused.
        Refused = "refused",
    }
}

/// Policy versions an Event was judged under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVersion {
    /// Address version.
    pub address: Option<u64>,
    /// Membership version.
    pub membership: Option<u64>,
}

/// One platform event as judged for one Address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Id.
    pub id: EventId,
    /// Order of commit.
    pub seq: u64,
    /// Connection.
    pub connection_id: ConnectionId,
    /// Address it was judged for.
    pub address_id: Option<AddressId>,
    /// Unique key of the event on its Connection.
    pub event_key: String,
    /// Unique key of the message for its Address.
    pub message_key: Option<String>,
    /// Kind.
    pub kind: EventKind,
    /// Result.
    pub decision: Decision,
    /// Reason code.
    pub reason: EventReason,
    /// Deciding step of the table, such as `14g`.
    pub step: String,
    /// Policy versions.
    pub policy_version: PolicyVersion,
    /// SHA-256 of the raw payload, hex.
    pub raw_sha256: String,
    /// Message, when its content is kept.
    pub message_id: Option<MessageId>,
    /// What was judged; the text is dropped when the Address says so.
    pub inbound: InboundEvent,
    /// When it was received.
    pub received_at: Timestamp,
    /// From inbound event to Receipt, 32 hex.
    pub trace_id: String,
}

/// The event shape a gateway hands to the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboundEvent {
    /// The platform's id of the event.
    pub event_id: String,
    /// Kind.
    pub kind: EventKind,
    /// When it happened, if told.
    pub occurred_at: Option<Timestamp>,
    /// Conversation and message.
    pub conversation: ConversationRef,
    /// Kind of the parent conversation, when the event is in a thread.
    pub parent_type: Option<ConversationType>,
    /// Sender; absent when the platform did not tell.
    pub sender: Option<Sender>,
    /// Content.
    pub content: Content,
    /// Structured mentions.
    #[serde(default)]
    pub mentions: Vec<Mention>,
    /// Whether the platform confirmed an explicit dispatch.
    #[serde(default)]
    pub dispatch: bool,
    /// Whether an answer is expected.
    pub reply_expected: Expectation,
    /// For an edit, recall or reaction: the message it is about.
    pub target_message_id: Option<String>,
    /// The message key (`team/channel/ts`); absent for events without a message.
    pub message_key: Option<String>,
    /// Whether the text is nothing but a mention of the bot.
    #[serde(default)]
    pub bare_mention: bool,
    /// Context supplied by the gateway.
    pub thread_context: Option<ThreadContext>,
    /// Kind-specific words (`bot_added`, `bot_removed`, `app_uninstalled`, `tokens_revoked`, `rate_limited`, reaction name).
    pub fact: Option<String>,
    /// Cursor after this event.
    pub cursor: Option<String>,
    /// Raw payload, at most 256 KiB.
    #[serde(default)]
    pub raw: serde_json::Value,
}
