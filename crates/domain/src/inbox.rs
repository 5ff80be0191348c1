//! Inbox items: the duty to handle one Message by one Agent.

mod event;
pub mod limits;
mod next;
pub mod reconcile;
mod transition;

use serde::{Deserialize, Serialize};

use crate::{
    AddressId, AgentId, AttemptId, InboxId, MembershipId, MessageId, OutboxId, Timestamp, TurnId,
    reason::{BlockedBy, ItemReason},
    words,
};

pub use event::{Answer, Delivery, Event, Rejudged, StartFailure};
pub use next::{Effect, Next, OwnerNotice};
pub use transition::{ReplyFacts, created, transition};

words! {
    /// State of an Inbox item.
    pub enum State {
        /// The sender waits for approval.
        PendingAccess = "pending_access",
        /// Waits for its Turn.
        Queued = "queued",
        /// A Turn works on it.
        Handling = "handling",
        /// The reply is on its way.
        AwaitingDelivery = "awaiting_delivery",
        /// Done, final.
        Handled = "handled",
        /// Waits until a time.
        Deferred = "deferred",
        /// Waits for a decision of the owner or Agent.
        NeedsDecision = "needs_decision",
        /// The Turn was interrupted; its fate may be unknown.
        Interrupted = "interrupted",
        /// Failed; may be retried.
        Failed = "failed",
        /// Cancelled, final.
        Cancelled = "cancelled",
        /// Expired, final.
        Expired = "expired",
    }
}

impl State {
    /// Whether nothing can change it any more.
    pub const fn is_final(self) -> bool {
        matches!(self, State::Handled | State::Cancelled | State::Expired)
    }
}

words! {
    /// How an item was decided.
    pub enum Outcome {
        /// By a reply.
        Reply = "reply",
        /// By a decision not to reply.
        NoReply = "no_reply",
    }
}

/// Marks of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flags {
    /// The message was edited.
    pub edited: bool,
    /// The message was recalled.
    pub recalled: bool,
    /// The message is nothing but a mention.
    pub mention_only: bool,
}

/// The duty to handle one Message by one Agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Id.
    pub id: InboxId,
    /// Version, +1 with each change.
    pub version: u64,
    /// Order of commit; keeps its place in the queue.
    pub seq: u64,
    /// Agent.
    pub agent_id: AgentId,
    /// Address; absent for internal and owner items.
    pub address_id: Option<AddressId>,
    /// Message.
    pub message_id: MessageId,
    /// Membership it was accepted under.
    pub membership_id: Option<MembershipId>,
    /// FIFO key: Address, conversation and thread.
    pub queue_key: String,
    /// State.
    pub state: State,
    /// Why.
    pub state_reason: Option<ItemReason>,
    /// How it was decided.
    pub outcome: Option<Outcome>,
    /// A short remark, at most 2 000 bytes.
    pub note: Option<String>,
    /// Not before this time.
    pub available_at: Option<Timestamp>,
    /// What it waits for.
    pub blocked_by: Option<BlockedBy>,
    /// Handling Attempts that count.
    pub attempt_count: u32,
    /// Starts that were not sent or refused in a row.
    #[serde(default)]
    pub start_failures: u32,
    /// The open Attempt.
    pub active_attempt_id: Option<AttemptId>,
    /// The newest Turn.
    pub turn_id: Option<TurnId>,
    /// Replies, oldest first.
    #[serde(default)]
    pub outbox_ids: Vec<OutboxId>,
    /// Marks.
    pub flags: Flags,
    /// From inbound event to Receipt, 32 hex.
    pub trace_id: String,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
}
