//! The state machine of Parts (messaging specification 5.6, rows 1 to 22). `sent` never changes.

mod ended;
mod settled;
#[cfg(test)]
mod tests;

use super::event::{PartContext, PartEffect, PartEvent, PartNext, PartNotice, Stop};
use super::schedule::{AUTH_MS, QUOTA_MS, RATE_LIMITED_MS, settle_wait_ms, try_wait_ms};
use super::{ClaimCheck, OutboxReason, Part, PartError, PartState, SendOutcomeKind, Step};
use crate::{Code, Error, Timestamp};

/// What a Part becomes by an event.
pub fn transition(part: &Part, event: &PartEvent, ctx: &PartContext) -> Result<PartNext, Error> {
    use PartEvent as E;
    if let E::Accepted(receipt) = event {
        return settled::accepted(part, receipt, ctx);
    }
    check_fence(part, event, ctx)?;
    match (event, part.state) {
        (E::Claim(check), PartState::Pending) => claim(part, *check, ctx),
        (E::Step, PartState::Sending) => Ok(PartNext { row: 4, part: part.clone(), effects: vec![] }),
        (E::Retryable { proven, retry_after_ms, error }, PartState::Sending) => {
            if ctx.step == Step::Publish && !proven {
                return Ok(settled::unknown_at(9, part, error, ctx.now));
            }
            Ok(ended::failed_try(part, *retry_after_ms, error, ctx))
        }
        (E::RateLimited { until, error }, PartState::Sending) => {
            let until = until.unwrap_or(ctx.now.plus_ms(RATE_LIMITED_MS));
            let next = paused(7, part, until, error, SendOutcomeKind::RateLimited);
            Ok(next.effect(PartEffect::PauseScope(until)))
        }
        (E::Permanent(error), PartState::Sending) => Ok(ended::permanent(part, error)),
        (E::Unknown(error), PartState::Sending) if ctx.step == Step::Publish => {
            Ok(settled::unknown_at(9, part, error, ctx.now))
        }
        // Before the publish step nothing visible happened, so this is an ordinary failed try.
        (E::Unknown(error), PartState::Sending) => Ok(ended::failed_try(part, None, error, ctx)),
        (E::Auth(error), PartState::Sending) => {
            Ok(paused(10, part, ctx.now.plus_ms(AUTH_MS), error, SendOutcomeKind::Auth))
        }
        (E::Quota { until, error }, PartState::Sending) => {
            let until = until.unwrap_or(ctx.now.plus_ms(QUOTA_MS));
            Ok(paused(10, part, until, error, SendOutcomeKind::Quota))
        }
        (E::LeaseLost, PartState::Sending) => Ok(ended::lease_lost(part, ctx)),
        (E::Settled(answer), PartState::Unknown) => Ok(settled::answered(part, answer, ctx)),
        (E::Owner(verdict), PartState::Unknown) => Ok(settled::by_owner(part, verdict, ctx)),
        (E::Due, PartState::RetryWait) if ctx.now < ctx.expires_at => {
            Ok(PartNext::to(17, part, PartState::Pending))
        }
        (E::Expire | E::Due, PartState::Pending | PartState::RetryWait) if ctx.now >= ctx.expires_at => {
            Ok(ended::expired(19, part))
        }
        (E::Stop(stop), PartState::Pending | PartState::RetryWait) => Ok(ended::stopped(part, *stop)),
        (E::Stop(Stop::Cancelled(reason)), PartState::Failed) => {
            Ok(ended::stopped(part, Stop::Cancelled(*reason)))
        }
        (E::Retry { superseded: false }, PartState::Failed | PartState::Expired) => {
            let next = ended::restarted(part);
            Ok(next.effect(PartEffect::RestartTtl).effect(PartEffect::ReturnLater))
        }
        (E::Retry { superseded: true }, _) => {
            Err(Error::new(Code::Superseded, "a newer reply replaced this one"))
        }
        (E::Returned, PartState::Cancelled | PartState::Expired) => Ok(ended::restarted(part)),
        _ => Err(refusal(part)),
    }
}

fn refusal(part: &Part) -> Error {
    let error = Error::new(Code::InvalidState, format!("{} is {}", part.id, part.state))
        .with_detail("state", part.state.as_str());
    if part.state == PartState::Unknown {
        let hint =
            format!("settle it with `loom outbox settle {} --confirm {}`", part.outbox_id, part.outbox_id);
        return error.with_hint(hint);
    }
    error
}

/// A stale owner changes nothing; only proof of delivery is taken from it.
fn check_fence(part: &Part, event: &PartEvent, ctx: &PartContext) -> Result<(), Error> {
    let is_stale = ctx.fence.is_some_and(|fence| fence < part.fence);
    if is_stale && !matches!(event, PartEvent::Owner(_)) {
        return Err(Error::new(Code::LeaseLost, format!("{} was taken over by another owner", part.id)));
    }
    Ok(())
}

/// Rows 1 to 3.
fn claim(part: &Part, check: ClaimCheck, ctx: &PartContext) -> Result<PartNext, Error> {
    if ctx.now >= ctx.expires_at {
        return Ok(ended::expired(19, part));
    }
    match check {
        ClaimCheck::Ready => {
            let mut next = PartNext::to(1, part, PartState::Sending);
            next.part.absent_reads = 0;
            next.part.absent_at = None;
            next.part.settle_count = 0;
            Ok(next)
        }
        ClaimCheck::Blocked(by) => {
            let mut next = PartNext { row: 2, part: part.clone(), effects: vec![] };
            next.part.blocked_by = Some(by);
            Ok(next)
        }
        ClaimCheck::Denied => Ok(PartNext::to(3, part, PartState::Cancelled)
            .effect(PartEffect::Reason(OutboxReason::PolicyDenied))
            .effect(PartEffect::CancelLater)
            .effect(PartEffect::Tell(PartNotice::PolicyDenied))),
        ClaimCheck::NotYet => Err(refusal(part)),
    }
}

/// Rows 7 and 10: waits that are no failed try.
fn paused(row: u8, part: &Part, until: Timestamp, error: &PartError, outcome: SendOutcomeKind) -> PartNext {
    let mut next = PartNext::to(row, part, PartState::RetryWait);
    next.part.until = Some(until);
    next.part.last_error = Some(error.clone());
    next.effect(PartEffect::CloseAttempt(outcome))
}

impl PartNext {
    /// The Part in a new state; waits and leases of the old one are cleared.
    fn to(row: u8, part: &Part, state: PartState) -> PartNext {
        let part = Part { state, until: None, lease_until: None, blocked_by: None, ..part.clone() };
        PartNext { row, part, effects: vec![] }
    }

    fn effect(mut self, effect: PartEffect) -> PartNext {
        self.effects.push(effect);
        self
    }
}
