//! What an Inbox item becomes, and what the store does in the same commit.

use super::{Item, Outcome, State};
use crate::reason::{BlockedBy, ItemReason};
use crate::turn::AttemptStatus;
use crate::{Code, Timestamp, words};

words! {
    /// What the owner is told about an item.
    pub enum OwnerNotice {
        /// The runtime could not start the Turn.
        RuntimeUnavailable = "runtime_unavailable",
        /// The Turn failed.
        TurnFailed = "turn_failed",
        /// The Turn was interrupted.
        TurnInterrupted = "turn_interrupted",
        /// The item waits for a decision.
        NeedsDecision = "needs_decision",
        /// The reply was not delivered.
        DeliveryFailed = "delivery_failed",
        /// The item waited too long in the queue; told in a digest.
        QueueExpired = "queue_expired",
    }
}

/// What the store does beside writing the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Add the sender to the Address's block list.
    BlockActor,
    /// End the open Attempt and its Turn.
    CloseAttempt(AttemptStatus),
    /// Interrupt the running Turn (grace, then kill).
    InterruptTurn,
    /// Write the Outbox item and its Parts; whoever asked for the move holds their content.
    CreateOutbox,
    /// A failed or expired earlier reply becomes `cancelled` with `supersededBy` the new one.
    SupersedeReply,
    /// Cancel the reply's Parts that are not sent.
    CancelUnsentParts,
    /// Write the code that refused the answer beside the answer.
    KeepAnswer(Code),
    /// Tell the owner.
    Tell(OwnerNotice),
}

/// The item's fields after the event, and the effects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Next {
    /// Row of the transition table.
    pub row: u8,
    /// State.
    pub state: State,
    /// Why.
    pub reason: Option<ItemReason>,
    /// How it was decided.
    pub outcome: Option<Outcome>,
    /// Remark.
    pub note: Option<String>,
    /// Not before this time.
    pub available_at: Option<Timestamp>,
    /// What it waits for.
    pub blocked_by: Option<BlockedBy>,
    /// Attempts that count.
    pub attempt_count: u32,
    /// Starts in a row that led to no Turn.
    pub start_failures: u32,
    /// The message was recalled.
    pub recalled: bool,
    /// What else to do, in this order.
    pub effects: Vec<Effect>,
}

impl Next {
    /// The item as it is.
    pub(super) fn same(row: u8, item: &Item) -> Next {
        Next {
            row,
            state: item.state,
            reason: item.state_reason,
            outcome: item.outcome,
            note: item.note.clone(),
            available_at: item.available_at,
            blocked_by: item.blocked_by,
            attempt_count: item.attempt_count,
            start_failures: item.start_failures,
            recalled: item.flags.recalled,
            effects: Vec::new(),
        }
    }

    /// The item in a new state; what belonged to the old one is cleared.
    pub(super) fn to(row: u8, item: &Item, state: State, reason: Option<ItemReason>) -> Next {
        Next { state, reason, available_at: None, blocked_by: None, ..Next::same(row, item) }
    }

    pub(super) fn outcome(mut self, outcome: Option<Outcome>) -> Next {
        self.outcome = outcome;
        self
    }

    pub(super) fn at(mut self, time: Timestamp) -> Next {
        self.available_at = Some(time);
        self
    }

    pub(super) fn effect(mut self, effect: Effect) -> Next {
        self.effects.push(effect);
        self
    }

    pub(super) fn effect_if(self, holds: bool, effect: Effect) -> Next {
        if holds { self.effect(effect) } else { self }
    }

    /// Whether anything of the item changes.
    #[must_use]
    pub fn changes(&self, item: &Item) -> bool {
        let same = Next::same(self.row, item);
        Next { effects: Vec::new(), ..self.clone() } != same
    }

    /// Writes the fields into the item. Ids of Attempt, Turn and Outbox item, version and times are the
    /// store's.
    pub fn apply(&self, item: &mut Item) {
        item.state = self.state;
        item.state_reason = self.reason;
        item.outcome = self.outcome;
        item.note.clone_from(&self.note);
        item.available_at = self.available_at;
        item.blocked_by = self.blocked_by;
        item.attempt_count = self.attempt_count;
        item.start_failures = self.start_failures;
        item.flags.recalled = self.recalled;
        if self.effects.iter().any(|effect| matches!(effect, Effect::CloseAttempt(_))) {
            item.active_attempt_id = None;
        }
    }
}
