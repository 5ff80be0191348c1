//! Outbox items: one logical message to one conversation, made of ordered Parts.

mod claim;
mod event;
mod fold;
pub mod schedule;
mod transition;

use serde::{Deserialize, Serialize};

use crate::{
    AddressId, AgentId, ArtifactId, AttemptId, ConnectionId, ConversationType, Expectation, InboxId,
    MembershipId, OutboxId, PartId, TextFormat, Timestamp, reason::BlockedBy, words,
};

pub use claim::{ClaimCheck, ClaimFacts, check_claim};
pub use event::{OwnerVerdict, PartContext, PartEffect, PartEvent, PartNext, PartNotice, Settled, Stop};
pub use fold::{Folded, fold};
pub use transition::transition;

words! {
    /// State of an Outbox item, derived from its Parts.
    pub enum State {
        /// Held for the owner or for quiet hours.
        Held = "held",
        /// Waits for its first Part to be taken.
        Pending = "pending",
        /// A Part is in flight.
        Sending = "sending",
        /// Waits for its next try.
        RetryWait = "retry_wait",
        /// Every Part is delivered.
        Sent = "sent",
        /// A Part failed for good.
        Failed = "failed",
        /// Not delivered in time.
        Expired = "expired",
        /// Cancelled.
        Cancelled = "cancelled",
        /// It is not known whether a Part was accepted.
        Unknown = "unknown",
    }
}

words! {
    /// State of a Part.
    pub enum PartState {
        /// Waits.
        Pending = "pending",
        /// In flight.
        Sending = "sending",
        /// Delivered; never changes.
        Sent = "sent",
        /// Waits for its next try.
        RetryWait = "retry_wait",
        /// Failed for good.
        Failed = "failed",
        /// It is not known whether it was accepted.
        Unknown = "unknown",
        /// Not delivered in time.
        Expired = "expired",
        /// Cancelled.
        Cancelled = "cancelled",
    }
}

words! {
    /// Why an Outbox item is held or ended as it did.
    pub enum OutboxReason {
        /// Content of another trust domain.
        ReleaseRequired = "release_required",
        /// Quiet hours of the conversation.
        QuietHours = "quiet_hours",
        /// The policy now forbids it.
        PolicyDenied = "policy_denied",
        /// The owner cancelled it.
        OwnerCancelled = "owner_cancelled",
        /// A newer reply replaced it.
        Superseded = "superseded",
        /// The message it answers was recalled.
        Recalled = "recalled",
    }
}

words! {
    /// Whether an expected answer came.
    pub enum ReplyState {
        /// None expected.
        None = "none",
        /// Expected.
        Waiting = "waiting",
        /// Came.
        Answered = "answered",
        /// Did not come in time.
        Overdue = "overdue",
    }
}

words! {
    /// Kind of a Part.
    pub enum PartKind {
        /// A chunk of text.
        Text = "text",
        /// A file.
        File = "file",
    }
}

words! {
    /// How far a send Attempt got.
    pub enum Step {
        /// Nothing visible happened.
        Prepare = "prepare",
        /// Bytes are being uploaded; nothing visible happened.
        Upload = "upload",
        /// The visible call is about to be made or was made.
        Publish = "publish",
    }
}

words! {
    /// Outcome of a send Attempt.
    pub enum SendOutcomeKind {
        /// Not ended.
        Open = "open",
        /// Delivered.
        Sent = "sent",
        /// Ended before anything was published.
        NotSent = "not_sent",
        /// Nothing was accepted; may be tried again.
        Retryable = "retryable",
        /// The provider asked to wait.
        RateLimited = "rate_limited",
        /// Refused for good.
        Permanent = "permanent",
        /// The credential was refused.
        Auth = "auth",
        /// A quota is used up.
        Quota = "quota",
        /// Not known.
        Unknown = "unknown",
    }
}

words! {
    /// How a Receipt was obtained.
    pub enum Via {
        /// From the provider's answer.
        Response = "response",
        /// From settlement.
        Settlement = "settlement",
        /// From the echoed event.
        Echo = "echo",
        /// From the owner.
        Owner = "owner",
    }
}

/// Proof of one delivered Part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// Kind of the Part.
    pub kind: PartKind,
    /// Provider's message id.
    pub external_message_id: Option<String>,
    /// Provider's file id.
    pub external_file_id: Option<String>,
    /// Provider's thread id.
    pub external_thread_id: Option<String>,
    /// Link for people.
    pub permalink: Option<String>,
    /// The file that was sent.
    pub artifact_id: Option<ArtifactId>,
    /// Provider's time.
    pub provider_time: Option<Timestamp>,
    /// Attempt that delivered it.
    pub attempt_id: Option<AttemptId>,
    /// How it was obtained.
    pub via: Via,
    /// When it was stored.
    pub recorded_at: Timestamp,
}

impl Receipt {
    /// Whether it holds an external id; without one it proves nothing.
    pub fn is_proof(&self) -> bool {
        match self.kind {
            PartKind::Text => self.external_message_id.is_some(),
            PartKind::File => self.external_message_id.is_some() || self.external_file_id.is_some(),
        }
    }
}

/// A classed provider or local error of a Part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartError {
    /// Class word (`retryable`, `permanent` …).
    pub class: String,
    /// Provider's or Loom's code.
    pub code: String,
    /// One sentence, redacted, at most 512 bytes.
    pub message: String,
}

/// The unit of sending, receipt and retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Id.
    pub id: PartId,
    /// Outbox item.
    pub outbox_id: OutboxId,
    /// Order of commit.
    pub seq: u64,
    /// Place in the item, from 1.
    pub n: u32,
    /// Kind.
    pub kind: PartKind,
    /// Text of a text Part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Stored file of a file Part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    /// File name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// File type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// File size, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// File digest, hex SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// State.
    pub state: PartState,
    /// Next try, next settlement, or end of a pause.
    pub until: Option<Timestamp>,
    /// Failed tries that count.
    pub attempt_count: u32,
    /// Settlement tries made.
    #[serde(default)]
    pub settle_count: u32,
    /// Complete "not there" reads so far.
    #[serde(default)]
    pub absent_reads: u32,
    /// Time of the first complete "not there" read.
    #[serde(default)]
    pub absent_at: Option<Timestamp>,
    /// End of the lease.
    pub lease_until: Option<Timestamp>,
    /// Fence of the newest claim.
    #[serde(default)]
    pub fence: u64,
    /// What it waits for.
    pub blocked_by: Option<BlockedBy>,
    /// Proof of delivery.
    pub receipt: Option<Receipt>,
    /// Further Receipts; each one is a message people saw twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicate_receipts: Vec<Receipt>,
    /// Newest error.
    pub last_error: Option<PartError>,
}

/// One network publication of a Part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendAttempt {
    /// Id.
    pub id: AttemptId,
    /// Order of commit.
    pub seq: u64,
    /// Part.
    pub part_id: PartId,
    /// Outbox item.
    pub outbox_id: OutboxId,
    /// Fence of the claim.
    pub fence: u64,
    /// How far it got.
    pub step: Step,
    /// Provider's key of the attempt (upload or file id, idempotency key).
    pub provider_key: Option<String>,
    /// Outcome.
    pub outcome: SendOutcomeKind,
    /// Start.
    pub started_at: Timestamp,
    /// When the publish step was committed.
    pub publish_at: Option<Timestamp>,
    /// End.
    pub ended_at: Option<Timestamp>,
    /// Error.
    pub error: Option<PartError>,
}

/// Conversation of an Outbox item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxConversation {
    /// Provider word.
    pub provider: String,
    /// Connection.
    pub connection_id: ConnectionId,
    /// Stable provider id.
    pub conversation_id: String,
    /// Kind.
    pub conversation_type: Option<ConversationType>,
}

/// Where in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Thread.
    pub thread_id: Option<String>,
    /// Message that is answered.
    pub message_id: Option<String>,
}

/// One logical message to one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxItem {
    /// Id.
    pub id: OutboxId,
    /// Version, +1 with each change.
    pub version: u64,
    /// Order of commit.
    pub seq: u64,
    /// Agent.
    pub agent_id: AgentId,
    /// Address.
    pub address_id: AddressId,
    /// Membership.
    pub membership_id: Option<MembershipId>,
    /// Item it answers.
    pub inbox_item_id: Option<InboxId>,
    /// Conversation.
    pub conversation: OutboxConversation,
    /// Where in it.
    pub target: Target,
    /// Whole text.
    pub text: String,
    /// Form of the text.
    pub format: TextFormat,
    /// State.
    pub state: State,
    /// Why.
    pub state_reason: Option<OutboxReason>,
    /// Held until (quiet hours).
    pub held_until: Option<Timestamp>,
    /// Whether an answer is expected.
    pub expect_reply: Expectation,
    /// Whether it came.
    pub reply_state: ReplyState,
    /// Key given by the caller.
    pub idempotency_key: Option<String>,
    /// Digest of the content and target, hex SHA-256.
    pub fingerprint: String,
    /// Trust domains of the content.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Time to live, seconds.
    pub ttl_seconds: u64,
    /// Nothing is published at or after this time.
    pub expires_at: Timestamp,
    /// Ignores quiet hours.
    #[serde(default)]
    pub urgent: bool,
    /// Some but not all Parts are delivered.
    #[serde(default)]
    pub partial: bool,
    /// Delivered Parts.
    #[serde(default)]
    pub sent_parts: u32,
    /// All Parts.
    pub total_parts: u32,
    /// Newer reply.
    pub superseded_by: Option<OutboxId>,
    /// Newest error.
    pub last_error: Option<PartError>,
    /// From inbound event to Receipt, 32 hex.
    pub trace_id: String,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
}
