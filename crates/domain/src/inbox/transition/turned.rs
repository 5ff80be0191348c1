//! Rows 9 to 21: what a Turn's start, end or fate does to its item.

use super::super::event::{Answer, Event, StartFailure};
use super::super::limits::{ATTEMPTS_MAX, STARTS_MAX, start_retry_ms, turn_retry_ms};
use super::super::next::{Effect, Next, OwnerNotice};
use super::super::{Item, Outcome, State};
use super::{ReplyFacts, expect_state};
use crate::reason::ItemReason;
use crate::turn::AttemptStatus;
use crate::{Error, ReplyPolicy, Timestamp};

const HANDLING: &[State] = &[State::Handling];

pub(super) fn start_failed(item: &Item, failure: StartFailure, now: Timestamp) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::StartFailed(failure))?;
    let failures = item.start_failures.saturating_add(1);
    let attempts = item.attempt_count.saturating_sub(1);
    let wait_ms = start_retry_ms(failures).filter(|_| failures < STARTS_MAX);
    let next = match (failure, wait_ms) {
        (StartFailure::NotSent | StartFailure::RefusedBusy, Some(wait_ms)) => {
            Next::to(9, item, State::Queued, None).at(now.plus_ms(wait_ms))
        }
        _ => Next::to(10, item, State::Failed, Some(ItemReason::RuntimeUnavailable))
            .effect(Effect::Tell(OwnerNotice::RuntimeUnavailable)),
    };
    let next = next.effect(Effect::CloseAttempt(AttemptStatus::NotStarted));
    Ok(Next { attempt_count: attempts, start_failures: failures, ..next })
}

pub(super) fn start_indeterminate(item: &Item) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::StartIndeterminate)?;
    Ok(Next::same(11, item))
}

/// Row 21, `NeverAccepted`: back to its old place; the start does not count.
pub(super) fn never_accepted(item: &Item) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::NeverAccepted)?;
    let next =
        Next::to(21, item, State::Queued, None).effect(Effect::CloseAttempt(AttemptStatus::NotStarted));
    Ok(Next { attempt_count: item.attempt_count.saturating_sub(1), ..next })
}

/// Row 21, `Running`: same Attempt, deadlines continue.
pub(super) fn reattached(item: &Item) -> Result<Next, Error> {
    // An item that was decided inside its Turn is attached again too, to close its Attempt later.
    if item.active_attempt_id.is_none() {
        expect_state(item, HANDLING, &Event::Reattached)?;
    }
    Ok(Next::same(21, item))
}

/// Row 21, `Interrupted` or `Unknown`.
pub(super) fn fate_unknown(item: &Item, may_rerun: bool) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::FateUnknown { may_rerun })?;
    let next = if may_rerun {
        Next::to(21, item, State::Queued, None)
    } else {
        Next::to(21, item, State::Interrupted, Some(ItemReason::UnknownFate))
            .effect(Effect::Tell(OwnerNotice::TurnInterrupted))
    };
    Ok(settled(next.effect(Effect::CloseAttempt(AttemptStatus::Interrupted))))
}

/// A Turn did start, so failed starts before it are forgotten.
fn settled(next: Next) -> Next {
    Next { start_failures: 0, ..next }
}

pub(super) fn completed(
    item: &Item,
    reply: ReplyFacts,
    policy: ReplyPolicy,
    answer: Answer,
) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::TurnCompleted { policy, answer })?;
    let undecided = |row, reason| {
        Next::to(row, item, State::NeedsDecision, Some(reason))
            .effect(Effect::Tell(OwnerNotice::NeedsDecision))
    };
    let next = match (policy, answer) {
        (ReplyPolicy::None, _) => Next::to(12, item, State::Handled, None).outcome(Some(Outcome::NoReply)),
        (ReplyPolicy::Explicit, _) => undecided(16, ItemReason::DecisionMissing),
        (ReplyPolicy::FinalAnswer, Answer::Admitted) => Next::to(13, item, State::AwaitingDelivery, None)
            .outcome(Some(Outcome::Reply))
            .effect(Effect::CreateOutbox)
            .effect_if(reply.is_failed, Effect::SupersedeReply),
        (ReplyPolicy::FinalAnswer, Answer::Refused(code)) => {
            undecided(14, ItemReason::ReplyBlocked).effect(Effect::KeepAnswer(code))
        }
        (ReplyPolicy::FinalAnswer, Answer::Empty) => undecided(15, ItemReason::EmptyAnswer),
    };
    Ok(settled(next.effect(Effect::CloseAttempt(AttemptStatus::Completed))))
}

pub(super) fn failed(item: &Item, retryable: bool, tool_called: bool, now: Timestamp) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::TurnFailed { retryable, tool_called })?;
    let may_retry = retryable && !tool_called && item.attempt_count < ATTEMPTS_MAX;
    let next = match turn_retry_ms(item.attempt_count.max(1)).filter(|_| may_retry) {
        Some(wait_ms) => Next::to(18, item, State::Queued, None).at(now.plus_ms(wait_ms)),
        None => Next::to(19, item, State::Failed, Some(ItemReason::TurnFailed))
            .effect(Effect::Tell(OwnerNotice::TurnFailed)),
    };
    Ok(settled(next.effect(Effect::CloseAttempt(AttemptStatus::Failed))))
}

pub(super) fn timed_out(item: &Item) -> Result<Next, Error> {
    expect_state(item, HANDLING, &Event::TurnTimeout)?;
    let next = Next::to(20, item, State::Interrupted, Some(ItemReason::TurnTimeout))
        .effect(Effect::InterruptTurn)
        .effect(Effect::CloseAttempt(AttemptStatus::Interrupted))
        .effect(Effect::Tell(OwnerNotice::TurnInterrupted));
    Ok(settled(next))
}
