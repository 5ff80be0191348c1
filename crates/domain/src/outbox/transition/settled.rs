//! Rows 5, 9, 12 to 16 and 22: proof of delivery, and the way back from not knowing.

use super::super::event::{OwnerVerdict, PartContext, PartEffect, PartNext, PartNotice, Settled};
use super::super::schedule::{ABSENT_FIRST_MS, ABSENT_GAP_MS};
use super::super::{Part, PartError, PartState, Receipt, SendOutcomeKind};
use super::{ended, settle_wait_ms};
use crate::{Error, Timestamp};

/// Rows 5, 9 and 22: a Receipt counts whoever brings it.
pub(super) fn accepted(part: &Part, receipt: &Receipt, ctx: &PartContext) -> Result<PartNext, Error> {
    if !receipt.is_proof() {
        super::check_fence(part, &super::PartEvent::LeaseLost, ctx)?;
        return match part.state {
            PartState::Sending => Ok(unknown_at(9, part, &no_ids(), ctx.now)),
            _ => Err(super::refusal(part)),
        };
    }
    let is_current = ctx.fence.is_none_or(|fence| fence >= part.fence);
    Ok(match part.state {
        PartState::Sending if is_current => sent(5, part, receipt),
        PartState::Sending | PartState::Unknown | PartState::Pending | PartState::RetryWait => {
            sent(22, part, receipt)
        }
        PartState::Sent => again(part, receipt),
        PartState::Failed | PartState::Expired | PartState::Cancelled => late(part, receipt),
    })
}

fn no_ids() -> PartError {
    PartError {
        class: "unknown".to_owned(),
        code: "receipt_without_id".to_owned(),
        message: "the provider accepted without an id that proves it".to_owned(),
    }
}

fn sent(row: u8, part: &Part, receipt: &Receipt) -> PartNext {
    let mut next = PartNext::to(row, part, PartState::Sent);
    next.part.receipt = Some(receipt.clone());
    next.part.last_error = None;
    next.effect(PartEffect::CloseAttempt(SendOutcomeKind::Sent))
}

/// A Receipt for a sent Part: the same one again, or a second delivery.
fn again(part: &Part, receipt: &Receipt) -> PartNext {
    let mut next = PartNext { row: 22, part: part.clone(), effects: vec![] };
    let is_same = |known: &Receipt| {
        known.external_message_id == receipt.external_message_id
            && known.external_file_id == receipt.external_file_id
    };
    if part.receipt.iter().chain(&part.duplicate_receipts).any(is_same) {
        return next;
    }
    next.part.duplicate_receipts.push(receipt.clone());
    next.effect(PartEffect::Tell(PartNotice::DuplicateDelivery))
}

/// Proof for a Part that ended otherwise is kept as evidence; its state stays.
fn late(part: &Part, receipt: &Receipt) -> PartNext {
    let mut next = again(part, receipt);
    if next.effects.is_empty() {
        return next;
    }
    next.effects = vec![PartEffect::Tell(PartNotice::LateReceipt)];
    next
}

/// The Part's fate is not known; settlement starts.
pub(super) fn unknown_at(row: u8, part: &Part, error: &PartError, now: Timestamp) -> PartNext {
    let mut next = PartNext::to(row, part, PartState::Unknown);
    next.part.settle_count = 0;
    next.part.absent_reads = 0;
    next.part.absent_at = None;
    next.part.until = settle_wait_ms(0).map(|wait_ms| now.plus_ms(wait_ms));
    next.part.last_error = Some(error.clone());
    next.effect(PartEffect::CloseAttempt(SendOutcomeKind::Unknown))
}

/// Rows 13 to 15.
pub(super) fn answered(part: &Part, answer: &Settled, ctx: &PartContext) -> PartNext {
    match answer {
        Settled::Found(receipt) if receipt.is_proof() => sent(13, part, receipt),
        Settled::Absent => absent(part, ctx),
        Settled::AbsentRead => absent_read(part, ctx),
        Settled::Found(_) | Settled::NoAnswer => ask_again(part, ctx),
        Settled::Never => left_to_owner(part),
    }
}

fn absent(part: &Part, ctx: &PartContext) -> PartNext {
    if ctx.now >= ctx.expires_at {
        return ended::expired(14, part);
    }
    PartNext::to(14, part, PartState::Pending)
}

/// Two complete reads prove absence: the first long enough after the Attempt, the second after a gap.
fn absent_read(part: &Part, ctx: &PartContext) -> PartNext {
    let is_early = ctx.now.since_ms(ctx.published_at) < ABSENT_FIRST_MS;
    let is_proof = part.absent_at.is_some_and(|first| ctx.now.since_ms(first) >= ABSENT_GAP_MS);
    if is_proof {
        return absent(part, ctx);
    }
    let mut next = ask_again(part, ctx);
    if !is_early && part.absent_at.is_none() {
        next.part.absent_at = Some(ctx.now);
        next.part.absent_reads = 1;
    }
    next
}

fn ask_again(part: &Part, ctx: &PartContext) -> PartNext {
    let tries = part.settle_count.saturating_add(1);
    let mut next = match settle_wait_ms(tries) {
        Some(wait_ms) => {
            let mut next = PartNext { row: 15, part: part.clone(), effects: vec![] };
            next.part.until = Some(ctx.now.plus_ms(wait_ms));
            next
        }
        None => left_to_owner(part),
    };
    next.part.settle_count = tries;
    next
}

fn left_to_owner(part: &Part) -> PartNext {
    PartNext::to(15, part, PartState::Unknown).effect(PartEffect::Tell(PartNotice::NeedsSettlement))
}

/// Row 16.
pub(super) fn by_owner(part: &Part, verdict: &OwnerVerdict, ctx: &PartContext) -> PartNext {
    match verdict {
        OwnerVerdict::Sent(receipt) => {
            let mut next = sent(16, part, receipt);
            next.effects.clear();
            next
        }
        OwnerVerdict::Resend => {
            let next = PartNext::to(16, part, PartState::Pending);
            if ctx.now >= ctx.expires_at { next.effect(PartEffect::RestartTtl) } else { next }
        }
        OwnerVerdict::Failed => PartNext::to(16, part, PartState::Failed).effect(PartEffect::CancelLater),
    }
}
