//! What can happen to an Inbox item.

use crate::decision::Recheck;
use crate::reason::{EventReason, ItemReason};
use crate::turn::AttemptStatus;
use crate::{Code, ReplyPolicy, Timestamp};

/// How a start of a Turn ended without a Turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFailure {
    /// The request never left.
    NotSent,
    /// The runtime is busy.
    RefusedBusy,
    /// The runtime refuses the input itself.
    RefusedBadInput,
}

/// What a completed Turn leaves to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Empty,
    /// An answer that admission lets through.
    Admitted,
    /// An answer that admission refuses with this code.
    Refused(Code),
}

/// Result of judging a pending item again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejudged {
    /// It is accepted.
    Accepted,
    /// No enabled matching Membership exists yet.
    StillPending,
    /// It is refused.
    Refused(EventReason),
}

/// State of the item's Outbox item, as far as the item cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Every Part is delivered.
    Sent,
    /// A Part failed for good.
    Failed,
    /// It was not delivered in time.
    Expired,
    /// It was cancelled.
    Cancelled,
    /// The fate of a Part is not known.
    Unknown,
    /// It waits for the owner or for quiet hours.
    Held,
}

/// What happens to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A pending item is judged again, by approval or retry.
    Rejudge(Rejudged),
    /// The owner denies the sender; `block` adds the actor to the block list.
    Deny {
        /// Whether the actor is blocked from now on.
        block: bool,
    },
    /// Approval did not come in time.
    AccessExpired,
    /// The scheduler takes the item, with the result of the check at claim.
    Claim(Recheck),
    /// The item waited too long in the queue.
    QueueExpired,
    /// The start ended without a Turn.
    StartFailed(StartFailure),
    /// It is not known whether the start was accepted.
    StartIndeterminate,
    /// Reconcile: the runtime never accepted the start.
    NeverAccepted,
    /// Reconcile: the Turn still runs and is attached again.
    Reattached,
    /// The Turn was broken off, or its fate cannot be told.
    FateUnknown {
        /// Whether the Agent's settings and the absence of tool calls allow a new run.
        may_rerun: bool,
    },
    /// The Turn completed.
    TurnCompleted {
        /// Reply policy frozen at claim; `none` also when no answer is expected.
        policy: ReplyPolicy,
        /// What there is to send.
        answer: Answer,
    },
    /// The Turn failed.
    TurnFailed {
        /// Whether the class of the error may pass.
        retryable: bool,
        /// Whether a tool call was recorded in the Turn.
        tool_called: bool,
    },
    /// The Turn ran over its absolute or idle limit.
    TurnTimeout,
    /// The Turn was stopped after the item had left it.
    TurnStopped,
    /// An admitted reply.
    Reply,
    /// The decision not to reply.
    NoReply {
        /// Why; kept in `note`.
        reason: String,
    },
    /// The decision to wait.
    Defer {
        /// Until when.
        until: Timestamp,
    },
    /// The time of a deferred item has come.
    Due,
    /// The reply's delivery moved.
    Delivery(Delivery),
    /// The owner or Agent wants a new run.
    Retry {
        /// Whether a partly sent earlier reply is accepted.
        after_partial: bool,
        /// Whether the Address is active.
        address_active: bool,
    },
    /// The failed or expired reply is sent again as it is.
    OutboxRetry,
    /// The owner cancels.
    Cancel,
    /// The message was recalled.
    Recall,
    /// The Address or Agent went away.
    Close(ItemReason),
}

impl Event {
    /// Status of the open Attempt when this event ends the Turn.
    #[must_use]
    pub const fn ended_turn(&self) -> Option<AttemptStatus> {
        match self {
            Event::TurnCompleted { .. } => Some(AttemptStatus::Completed),
            Event::TurnFailed { .. } => Some(AttemptStatus::Failed),
            Event::TurnTimeout | Event::TurnStopped | Event::FateUnknown { .. } => {
                Some(AttemptStatus::Interrupted)
            }
            Event::StartFailed(_) | Event::NeverAccepted => Some(AttemptStatus::NotStarted),
            _ => None,
        }
    }

    /// Whether this is a decision that an Agent may take.
    #[must_use]
    pub const fn is_agent_decision(&self) -> bool {
        matches!(self, Event::Reply | Event::NoReply { .. } | Event::Defer { .. })
    }

    /// A word for messages.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Event::Rejudge(_) => "approval",
            Event::Deny { .. } => "denial",
            Event::AccessExpired | Event::QueueExpired => "expiry",
            Event::Claim(_) => "claim",
            Event::StartFailed(_) | Event::StartIndeterminate | Event::NeverAccepted => "start",
            Event::Reattached | Event::FateUnknown { .. } => "reconcile",
            Event::TurnCompleted { .. }
            | Event::TurnFailed { .. }
            | Event::TurnTimeout
            | Event::TurnStopped => "end of a Turn",
            Event::Reply => "reply",
            Event::NoReply { .. } => "no-reply",
            Event::Defer { .. } => "defer",
            Event::Due => "due time",
            Event::Delivery(_) => "delivery",
            Event::Retry { .. } => "retry",
            Event::OutboxRetry => "outbox retry",
            Event::Cancel => "cancel",
            Event::Recall => "recall",
            Event::Close(_) => "closing",
        }
    }
}
