//! Rows 6, 8, 11, 12 and 18 to 21: tries that ended, and Parts that end or start again.

use super::super::event::{PartContext, PartEffect, PartNext, PartNotice, Stop};
use super::super::{Part, PartError, PartState, SendOutcomeKind, Step};
use super::{settled, try_wait_ms};

/// Rows 6 and 18.
pub(super) fn failed_try(
    part: &Part,
    retry_after_ms: Option<i64>,
    error: &PartError,
    ctx: &PartContext,
) -> PartNext {
    let tries = part.attempt_count.saturating_add(1);
    let mut next = match try_wait_ms(tries, retry_after_ms, ctx.random) {
        Some(wait_ms) => {
            let mut next = PartNext::to(6, part, PartState::RetryWait);
            next.part.until = Some(ctx.now.plus_ms(wait_ms));
            next.effect(PartEffect::CloseAttempt(SendOutcomeKind::Retryable))
        }
        None => dead(18, part, SendOutcomeKind::Retryable),
    };
    next.part.attempt_count = tries;
    next.part.last_error = Some(error.clone());
    next
}

/// Row 8.
pub(super) fn permanent(part: &Part, error: &PartError) -> PartNext {
    let mut next = dead(8, part, SendOutcomeKind::Permanent);
    next.part.attempt_count = part.attempt_count.saturating_add(1);
    next.part.last_error = Some(error.clone());
    next
}

fn dead(row: u8, part: &Part, outcome: SendOutcomeKind) -> PartNext {
    PartNext::to(row, part, PartState::Failed)
        .effect(PartEffect::CloseAttempt(outcome))
        .effect(PartEffect::CancelLater)
        .effect(PartEffect::Tell(PartNotice::DeadLetter))
}

/// Rows 11 and 12.
pub(super) fn lease_lost(part: &Part, ctx: &PartContext) -> PartNext {
    match ctx.step {
        Step::Prepare | Step::Upload => PartNext::to(11, part, PartState::Pending)
            .effect(PartEffect::CloseAttempt(SendOutcomeKind::NotSent)),
        Step::Publish => {
            let error = PartError {
                class: "unknown".to_owned(),
                code: "lease_lost".to_owned(),
                message: "the send was broken off after its publish step began".to_owned(),
            };
            settled::unknown_at(12, part, &error, ctx.now)
        }
    }
}

/// Row 19.
pub(super) fn expired(row: u8, part: &Part) -> PartNext {
    PartNext::to(row, part, PartState::Expired)
        .effect(PartEffect::ExpireLater)
        .effect(PartEffect::Tell(PartNotice::Expired))
}

/// Row 20, and the later Parts of rows 3, 8, 18 and 19.
pub(super) fn stopped(part: &Part, stop: Stop) -> PartNext {
    match stop {
        Stop::Cancelled(reason) => {
            PartNext::to(20, part, PartState::Cancelled).effect(PartEffect::Reason(reason))
        }
        Stop::EarlierFailed => PartNext::to(8, part, PartState::Cancelled),
        Stop::EarlierExpired => PartNext::to(19, part, PartState::Expired),
    }
}

/// Row 21.
pub(super) fn restarted(part: &Part) -> PartNext {
    let mut next = PartNext::to(21, part, PartState::Pending);
    next.part.attempt_count = 0;
    next
}
