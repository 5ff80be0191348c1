//! The JSON object of facts that Loom writes.

use serde::Serialize;

use crate::message::{AttachmentStatus, Origin, SenderKind};
use crate::{
    AddressId, ArtifactId, ConversationType, Expectation, InboxId, MembershipId, OutboundPolicy, ReplyPolicy,
    Timestamp, TurnId, words,
};

words! {
    /// How far the content may be believed; set by the hub, never by payload.
    pub enum Trust {
        /// A person or bot on a platform.
        ExternalUntrusted = "external_untrusted",
        /// Another Agent.
        Agent = "agent",
        /// The owner.
        Owner = "owner",
    }
}

/// The trust of a message by its origin. Only the owner's own input is the owner's.
#[must_use]
pub const fn trust_of(origin: Origin) -> Trust {
    match origin {
        Origin::Provider => Trust::ExternalUntrusted,
        Origin::Loom => Trust::Agent,
        Origin::Owner => Trust::Owner,
    }
}

/// Membership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MembershipFact {
    /// Id.
    pub id: MembershipId,
    /// Version.
    pub version: u64,
    /// Cosmetic name.
    pub name: String,
}

/// Conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationFact {
    /// Stable provider id.
    pub id: String,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: Option<ConversationType>,
    /// Thread.
    pub thread: Option<String>,
}

/// Sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SenderFact {
    /// Stable provider id.
    pub id: String,
    /// Kind.
    pub kind: SenderKind,
    /// Cosmetic name.
    pub name: Option<String>,
}

/// An Attempt that may have acted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriorAttempt {
    /// Number.
    pub n: u32,
    /// How it ended.
    pub status: crate::turn::AttemptStatus,
}

/// Times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Times {
    /// When it was written.
    pub sent: Timestamp,
    /// When it was stored.
    pub received: Timestamp,
    /// When the Turn starts.
    pub now: Timestamp,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttachmentFact {
    /// Stored file.
    pub artifact: Option<ArtifactId>,
    /// Name given by the sender.
    pub name: String,
    /// Type.
    pub mime: Option<String>,
    /// Size, bytes.
    pub size: Option<u64>,
    /// Hex SHA-256.
    pub sha256: Option<String>,
    /// State.
    pub status: AttachmentStatus,
    /// Read-only copy, when ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Thread context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextFact {
    /// Messages that follow.
    pub messages: usize,
    /// Whether some were left out.
    pub truncated: bool,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// The facts, in the order they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Turn.
    pub turn: TurnId,
    /// Item.
    pub item: InboxId,
    /// Name of the Agent.
    pub agent: String,
    /// Where the message comes from.
    pub origin: Origin,
    /// How far it may be believed.
    pub trust: Trust,
    /// Provider word.
    pub provider: Option<String>,
    /// Address.
    pub address: Option<AddressId>,
    /// Membership.
    pub membership: Option<MembershipFact>,
    /// Conversation.
    pub conversation: ConversationFact,
    /// Sender.
    pub sender: SenderFact,
    /// Provider's message id.
    pub message_id: Option<String>,
    /// Whether it was edited.
    pub edited: bool,
    /// Number of this Attempt.
    pub attempt: u32,
    /// An earlier Attempt that may have acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_attempt: Option<PriorAttempt>,
    /// Times.
    pub times: Times,
    /// Frozen reply policy.
    pub reply_policy: ReplyPolicy,
    /// Whether an answer is expected.
    pub expectation: Expectation,
    /// What may be sent here.
    pub outbound_policy: Option<OutboundPolicy>,
    /// Label of the information boundary.
    pub trust_domain: Option<String>,
    /// Files.
    pub attachments: Vec<AttachmentFact>,
    /// Thread context.
    pub context: ContextFact,
}
