//! The state machine of Inbox items (messaging specification 4.3, rows 1 to 35). Anything not listed there is
//! refused.

mod decided;
mod delivered;
#[cfg(test)]
mod tests;
mod turned;
mod waiting;

use super::event::Event;
use super::next::{Effect, Next};
use super::{Item, State};
use crate::outbox::{PartState, State as OutboxState};
use crate::reason::ItemReason;
use crate::{Code, Error, Timestamp};

/// What the item's newest reply looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a hidden state")]
pub struct ReplyFacts {
    /// It is on its way: held, pending, sending, waiting for a retry, or unknown.
    pub is_live: bool,
    /// It failed or expired and no newer one replaced it.
    pub is_failed: bool,
    /// A Part is delivered.
    pub has_sent_part: bool,
    /// The fate of a Part is not known.
    pub has_unknown_part: bool,
}

impl ReplyFacts {
    /// Reads the facts off the reply's state and those of its Parts.
    #[must_use]
    pub fn of(state: OutboxState, parts: &[PartState]) -> ReplyFacts {
        use OutboxState as S;
        ReplyFacts {
            is_live: matches!(state, S::Held | S::Pending | S::Sending | S::RetryWait | S::Unknown),
            is_failed: matches!(state, S::Failed | S::Expired),
            has_sent_part: parts.contains(&PartState::Sent),
            has_unknown_part: parts.contains(&PartState::Unknown),
        }
    }
}

/// State of a new item (rows 1 and 2).
#[must_use]
pub const fn created(pending: bool) -> State {
    if pending { State::PendingAccess } else { State::Queued }
}

/// What an item becomes by an event. The caller has checked principals (5.2 row 1) and admission.
pub fn transition(item: &Item, reply: ReplyFacts, event: &Event, now: Timestamp) -> Result<Next, Error> {
    if let Some(next) = after_the_turn(item, event) {
        return Ok(next);
    }
    match event {
        Event::Rejudge(judged) => waiting::rejudge(item, *judged),
        Event::Deny { block } => waiting::deny(item, *block),
        Event::AccessExpired => waiting::access_expired(item),
        Event::Claim(check) => waiting::claim(item, *check),
        Event::QueueExpired => waiting::queue_expired(item),
        Event::Due => waiting::due(item),
        Event::StartFailed(failure) => turned::start_failed(item, *failure, now),
        Event::StartIndeterminate => turned::start_indeterminate(item),
        Event::NeverAccepted => turned::never_accepted(item),
        Event::Reattached => turned::reattached(item),
        Event::FateUnknown { may_rerun } => turned::fate_unknown(item, *may_rerun),
        Event::TurnCompleted { policy, answer } => turned::completed(item, reply, *policy, *answer),
        Event::TurnFailed { retryable, tool_called } => turned::failed(item, *retryable, *tool_called, now),
        Event::TurnTimeout => turned::timed_out(item),
        Event::TurnStopped => turned::fate_unknown(item, false),
        Event::Reply => decided::reply(item, reply),
        Event::NoReply { reason } => decided::no_reply(item, reply, reason),
        Event::Defer { until } => decided::defer(item, *until, now),
        Event::Retry { after_partial, address_active } => {
            decided::retry(item, reply, *after_partial, *address_active)
        }
        Event::Delivery(delivery) => delivered::moved(item, *delivery),
        Event::OutboxRetry => delivered::restarted(item),
        Event::Cancel => closed(item, event, 33, ItemReason::OwnerCancelled),
        Event::Recall => {
            closed(item, event, 34, ItemReason::Recalled).map(|next| Next { recalled: true, ..next })
        }
        Event::Close(reason) => closed(item, event, 35, *reason),
    }
}

/// Row 17: the Turn ends after the item was decided or closed; only the Attempt is closed.
fn after_the_turn(item: &Item, event: &Event) -> Option<Next> {
    let status = event.ended_turn()?;
    let is_open = item.active_attempt_id.is_some() && item.state != State::Handling;
    is_open.then(|| Next::same(17, item).effect(Effect::CloseAttempt(status)))
}

/// Rows 33 to 35: closes whatever is not final.
fn closed(item: &Item, event: &Event, row: u8, reason: ItemReason) -> Result<Next, Error> {
    if item.state.is_final() {
        return Err(refusal(item, event));
    }
    Ok(Next::to(row, item, State::Cancelled, Some(reason))
        .outcome(None)
        .effect_if(item.active_attempt_id.is_some(), Effect::InterruptTurn)
        .effect(Effect::CancelUnsentParts))
}

/// The error of an event that the item's state does not allow.
fn refusal(item: &Item, event: &Event) -> Error {
    let code = match item.state {
        State::PendingAccess if event.is_agent_decision() => Code::AccessPending,
        state if state.is_final() && event.is_agent_decision() => Code::AlreadyDecided,
        State::AwaitingDelivery if event.is_agent_decision() => Code::ReplyExists,
        _ => Code::InvalidState,
    };
    let error = Error::new(code, format!("{} is {}; it takes no {}", item.id, item.state, event.word()))
        .with_detail("state", item.state.as_str());
    if code == Code::InvalidState { error.with_hint(what_works(item)) } else { error }
}

/// What an owner can do with an item in its state.
fn what_works(item: &Item) -> String {
    let id = &item.id;
    match item.state {
        State::Handled | State::Cancelled | State::Expired => {
            "Nothing is left to do: it is closed.".to_owned()
        }
        State::PendingAccess => Code::AccessPending.hint().to_owned(),
        State::Queued | State::Handling => {
            format!("It goes on by itself; `loom inbox cancel {id}` closes it.")
        }
        State::AwaitingDelivery => format!("Its reply is on the way; `loom inbox get {id}` names it."),
        State::Deferred | State::NeedsDecision | State::Interrupted | State::Failed => {
            format!("loom inbox retry {id}")
        }
    }
}

fn expect_state(item: &Item, allowed: &[State], event: &Event) -> Result<(), Error> {
    if allowed.contains(&item.state) { Ok(()) } else { Err(refusal(item, event)) }
}
