//! Moves Parts along their state machine and keeps item, Receipts and Inbox item in the same commit.

use loom_domain::{
    AttemptId, Error, OutboxItem, Part, PartId, Receipt, Result, SendAttempt, Timestamp,
    inbox::{Delivery, Event as ItemEvent, State as ItemState},
    outbox::{
        OutboxReason, PartContext, PartEffect, PartEvent, PartNotice, PartState, SendOutcomeKind, Settled,
        State, Step, Stop, fold, transition,
    },
};
use serde_json::json;

use crate::{
    Audit, Topic, Unit, docs,
    ops::{items, notices},
    params,
    records::{StoredItem, StoredPart},
};

/// Length of a Part's lease, milliseconds.
pub(super) const LEASE_MS: i64 = loom_domain::outbox::schedule::LEASE_MS;

/// Renews the lease of a Part in flight.
pub(super) fn renew(unit: &mut Unit<'_>, attempt: &AttemptId, fence: u64) -> Result<Timestamp> {
    let attempt: SendAttempt = docs::require(unit.tx, attempt.as_str())?;
    let mut stored: StoredPart = docs::require_locked(unit.tx, attempt.part_id.as_str())?;
    if stored.part.fence != fence || stored.part.state != PartState::Sending {
        return Err(Error::new(loom_domain::Code::LeaseLost, format!("{} was taken over", stored.part.id)));
    }
    let until = unit.now.plus_ms(LEASE_MS);
    stored.part.lease_until = Some(until);
    docs::update(unit.tx, &stored)?;
    Ok(until)
}

/// Commits a step before its bytes leave.
pub(super) fn step(
    unit: &mut Unit<'_>,
    id: &AttemptId,
    fence: u64,
    step: Step,
    key: Option<&str>,
) -> Result<()> {
    let mut attempt: SendAttempt = docs::require(unit.tx, id.as_str())?;
    let mut stored: StoredPart = docs::require_locked(unit.tx, attempt.part_id.as_str())?;
    if attempt.outcome != SendOutcomeKind::Open {
        return Err(Error::new(loom_domain::Code::LeaseLost, format!("{id} has ended")));
    }
    let context = context(unit, &stored, Some(&attempt), Some(fence));
    let next = transition(&stored.part, &PartEvent::Step, &context)?;
    attempt.step = step;
    if let Some(key) = key {
        attempt.provider_key = Some(key.to_owned());
    }
    if step == Step::Publish && attempt.publish_at.is_none() {
        attempt.publish_at = Some(unit.now);
    }
    stored.part = next.part;
    stored.part.lease_until = Some(unit.now.plus_ms(LEASE_MS));
    docs::update(unit.tx, &attempt)?;
    docs::update(unit.tx, &stored)
}

/// Records the outcome of an Attempt. A repeat in any state answers with the Part as it is.
pub(super) fn finish(unit: &mut Unit<'_>, id: &AttemptId, fence: u64, event: &PartEvent) -> Result<Part> {
    let attempt: SendAttempt = docs::require(unit.tx, id.as_str())?;
    let mut stored: StoredPart = docs::require_locked(unit.tx, attempt.part_id.as_str())?;
    let is_proof = matches!(event, PartEvent::Accepted(receipt) if receipt.is_proof());
    if attempt.outcome != SendOutcomeKind::Open && !is_proof {
        return Ok(stored.part);
    }
    let mut item: OutboxItem = docs::require_locked(unit.tx, stored.part.outbox_id.as_str())?;
    let context = context(unit, &stored, Some(&attempt), Some(fence));
    apply(unit, &mut item, &mut stored, Some(attempt), event, &context)?;
    refold(unit, &mut item)?;
    Ok(stored.part)
}

/// Records an answer of settlement.
pub(super) fn settled(unit: &mut Unit<'_>, id: &PartId, answer: &Settled) -> Result<Part> {
    let mut stored: StoredPart = docs::require_locked(unit.tx, id.as_str())?;
    if stored.part.state != PartState::Unknown {
        return Ok(stored.part);
    }
    let mut item: OutboxItem = docs::require_locked(unit.tx, stored.part.outbox_id.as_str())?;
    let attempt = newest_attempt(unit, id)?;
    let context = context(unit, &stored, attempt.as_ref(), None);
    apply(unit, &mut item, &mut stored, attempt, &PartEvent::Settled(answer.clone()), &context)?;
    refold(unit, &mut item)?;
    Ok(stored.part)
}

pub(super) fn newest_attempt(unit: &mut Unit<'_>, part: &PartId) -> Result<Option<SendAttempt>> {
    docs::find(unit.tx, "part_id = ?1 ORDER BY seq DESC", &params![part.as_str()])
}

pub(super) fn context(
    unit: &Unit<'_>,
    stored: &StoredPart,
    attempt: Option<&SendAttempt>,
    fence: Option<u64>,
) -> PartContext {
    PartContext {
        now: unit.now,
        expires_at: stored.expires_at,
        fence,
        step: attempt.map_or(Step::Prepare, |a| a.step),
        published_at: attempt.map_or(unit.now, |a| a.publish_at.unwrap_or(a.started_at)),
        random: u64::try_from(unit.random() & u128::from(u64::MAX)).unwrap_or(0),
    }
}

/// Applies one event to a Part, saves it, and carries its effects out.
pub(super) fn apply(
    unit: &mut Unit<'_>,
    item: &mut OutboxItem,
    stored: &mut StoredPart,
    attempt: Option<SendAttempt>,
    event: &PartEvent,
    context: &PartContext,
) -> Result<()> {
    let before = stored.part.state;
    let next = transition(&stored.part, event, context)?;
    stored.part = next.part;
    docs::update(unit.tx, stored)?;
    if let Some(receipt) = newest_receipt(&stored.part) {
        put_receipt(unit, item, stored, &receipt)?;
    }
    if stored.part.state != before {
        unit.change("part.changed", stored.part.id.as_str(), Some(item.agent_id.as_str()), 0, &["state"])?;
        unit.wake(Topic::Outbox);
    }
    if stored.part.last_error.is_some() {
        item.last_error.clone_from(&stored.part.last_error);
    }
    let mut attempt = attempt;
    for effect in next.effects {
        carry_out(unit, item, stored, attempt.as_mut(), effect)?;
    }
    Ok(())
}

fn newest_receipt(part: &Part) -> Option<Receipt> {
    part.duplicate_receipts.last().or(part.receipt.as_ref()).cloned()
}

fn put_receipt(unit: &mut Unit<'_>, item: &OutboxItem, stored: &StoredPart, receipt: &Receipt) -> Result<()> {
    for external in [&receipt.external_message_id, &receipt.external_file_id].into_iter().flatten() {
        unit.tx.execute(
            "INSERT INTO receipts (connection_id, external_id, conversation_id, part_id, outbox_id, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (connection_id, external_id, conversation_id, part_id) DO NOTHING",
            &params![
                stored.connection_id.as_str(),
                external.as_str(),
                stored.conversation_id.as_str(),
                stored.part.id.as_str(),
                item.id.as_str(),
                unit.now
            ],
        )?;
    }
    Ok(())
}

fn carry_out(
    unit: &mut Unit<'_>,
    item: &mut OutboxItem,
    stored: &mut StoredPart,
    attempt: Option<&mut SendAttempt>,
    effect: PartEffect,
) -> Result<()> {
    match effect {
        PartEffect::CloseAttempt(outcome) => close_attempt(unit, item, stored, attempt, outcome),
        PartEffect::CancelLater => stop_later(unit, item, stored.part.n, Stop::EarlierFailed),
        PartEffect::ExpireLater => stop_later(unit, item, stored.part.n, Stop::EarlierExpired),
        PartEffect::ReturnLater => return_later(unit, item, stored.part.n),
        PartEffect::Reason(reason) => {
            item.state_reason = Some(reason);
            Ok(())
        }
        PartEffect::RestartTtl => restart_ttl(unit, item, stored),
        PartEffect::PauseScope(until) => pause(unit, stored, until),
        PartEffect::Tell(notice) => tell(unit, item, stored, notice),
    }
}

fn close_attempt(
    unit: &mut Unit<'_>,
    item: &OutboxItem,
    stored: &StoredPart,
    attempt: Option<&mut SendAttempt>,
    outcome: SendOutcomeKind,
) -> Result<()> {
    let Some(attempt) = attempt else { return Ok(()) };
    attempt.outcome = outcome;
    attempt.ended_at = Some(unit.now);
    attempt.error.clone_from(&stored.part.last_error);
    docs::update(unit.tx, attempt)?;
    unit.audit(&Audit {
        action: if outcome == SendOutcomeKind::Sent { "part.receipt" } else { "part.attempt" },
        object: stored.part.id.as_str(),
        versions: (None, None),
        outcome: outcome.as_str(),
        detail: json!({"outbox": item.id, "attempt": attempt.id, "code": stored.part.last_error.as_ref().map(|e| e.code.clone()),
            "message": stored.part.receipt.as_ref().and_then(|r| r.external_message_id.clone())}),
    })
}

fn later(unit: &mut Unit<'_>, item: &OutboxItem, n: u32) -> Result<Vec<StoredPart>> {
    docs::select(unit.tx, "outbox_id = ?1 AND n > ?2 ORDER BY n", &params![item.id.as_str(), n])
}

fn stop_later(unit: &mut Unit<'_>, item: &mut OutboxItem, n: u32, stop: Stop) -> Result<()> {
    for mut stored in later(unit, item, n)? {
        if matches!(stored.part.state, PartState::Pending | PartState::RetryWait) {
            let context = context(unit, &stored, None, None);
            apply(unit, item, &mut stored, None, &PartEvent::Stop(stop), &context)?;
        }
    }
    Ok(())
}

fn return_later(unit: &mut Unit<'_>, item: &mut OutboxItem, n: u32) -> Result<()> {
    for mut stored in later(unit, item, n)? {
        if matches!(stored.part.state, PartState::Cancelled | PartState::Expired) {
            stored.expires_at = item.expires_at;
            let context = context(unit, &stored, None, None);
            apply(unit, item, &mut stored, None, &PartEvent::Returned, &context)?;
        }
    }
    Ok(())
}

fn restart_ttl(unit: &mut Unit<'_>, item: &mut OutboxItem, stored: &mut StoredPart) -> Result<()> {
    let ttl_ms = i64::try_from(item.ttl_seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
    item.expires_at = unit.now.plus_ms(ttl_ms);
    unit.tx.execute(
        "UPDATE parts SET expires_at = ?2 WHERE outbox_id = ?1",
        &params![item.id.as_str(), item.expires_at],
    )?;
    for mut other in later(unit, item, 0)? {
        other.expires_at = item.expires_at;
        docs::update(unit.tx, &other)?;
    }
    stored.expires_at = item.expires_at;
    docs::update(unit.tx, stored)
}

fn pause(unit: &mut Unit<'_>, stored: &StoredPart, until: Timestamp) -> Result<()> {
    let scope = format!("conversation:{}", stored.conversation_id);
    unit.tx.execute(
        "INSERT INTO pauses (connection_id, scope, until) VALUES (?1, ?2, ?3) \
         ON CONFLICT (connection_id, scope) DO UPDATE SET until = excluded.until",
        &params![stored.connection_id.as_str(), scope, until],
    )?;
    Ok(())
}

fn tell(unit: &mut Unit<'_>, item: &OutboxItem, stored: &StoredPart, notice: PartNotice) -> Result<()> {
    let id = item.id.as_str();
    let code = stored.part.last_error.as_ref().map_or("", |e| e.code.as_str());
    let expiry_digest = format!("agent:{}", item.agent_id);
    let (object, text) = match notice {
        PartNotice::Expired => {
            (expiry_digest.as_str(), "sends expired before they could be delivered".to_owned())
        }
        _ => (id, format!("{id} part {}: {} {code}", stored.part.n, stored.part.state)),
    };
    let hint = match notice {
        PartNotice::NeedsSettlement => format!("loom outbox settle {id} --confirm {id}"),
        PartNotice::Expired => "loom outbox list --dead".to_owned(),
        _ => format!("loom outbox get {id}"),
    };
    notices::tell(unit, notices::Tell { kind: notice.as_str(), object, text, hint })
}

/// Stops every Part that is not in flight, unknown or sent, and closes the item.
pub(super) fn stop_all(unit: &mut Unit<'_>, item: &mut OutboxItem, stop: Stop) -> Result<()> {
    for mut stored in later(unit, item, 0)? {
        let is_stoppable = matches!(stored.part.state, PartState::Pending | PartState::RetryWait)
            || (matches!(stop, Stop::Cancelled(_)) && stored.part.state == PartState::Failed);
        if is_stoppable {
            let context = context(unit, &stored, None, None);
            apply(unit, item, &mut stored, None, &PartEvent::Stop(stop), &context)?;
        }
    }
    if let Stop::Cancelled(reason) = stop {
        item.state_reason = Some(reason);
        item.held_until = None;
    }
    refold_with(unit, item, false)
}

/// Derives the item's state from its Parts, saves it, and tells the Inbox item.
pub(super) fn refold(unit: &mut Unit<'_>, item: &mut OutboxItem) -> Result<()> {
    let held = item.state == State::Held;
    refold_with(unit, item, held)
}

fn refold_with(unit: &mut Unit<'_>, item: &mut OutboxItem, held: bool) -> Result<()> {
    let states = later(unit, item, 0)?.iter().map(|p| p.part.state).collect::<Vec<_>>();
    let folded = fold(&states, held);
    let before = (item.state, item.sent_parts);
    item.state = folded.state;
    item.sent_parts = folded.sent_parts;
    item.partial = folded.partial;
    if item.state == State::Sent {
        item.last_error = None;
    }
    if before == (item.state, item.sent_parts) {
        return docs::update(unit.tx, item);
    }
    save_item(unit, item)?;
    tell_inbox(unit, item)
}

/// Writes an item back with its change.
pub(super) fn save_item(unit: &mut Unit<'_>, item: &mut OutboxItem) -> Result<()> {
    item.version += 1;
    item.updated_at = unit.now;
    docs::update(unit.tx, item)?;
    unit.change("outbox.changed", item.id.as_str(), Some(item.agent_id.as_str()), item.version, &["state"])?;
    unit.wake(Topic::Outbox);
    Ok(())
}

fn tell_inbox(unit: &mut Unit<'_>, item: &OutboxItem) -> Result<()> {
    let delivery = match item.state {
        State::Sent => Delivery::Sent,
        State::Failed => Delivery::Failed,
        State::Expired => Delivery::Expired,
        State::Cancelled => Delivery::Cancelled,
        State::Unknown => Delivery::Unknown,
        State::Held => Delivery::Held,
        State::Pending | State::Sending | State::RetryWait => return Ok(()),
    };
    let Some(inbox_id) = &item.inbox_item_id else { return Ok(()) };
    let mut stored: StoredItem = docs::require_locked(unit.tx, inbox_id.as_str())?;
    let is_newest = stored.item.outbox_ids.last() == Some(&item.id);
    if item.state_reason == Some(OutboxReason::Superseded)
        || !is_newest
        || stored.item.state != ItemState::AwaitingDelivery
    {
        return Ok(());
    }
    items::step(unit, &mut stored, &ItemEvent::Delivery(delivery))?;
    Ok(())
}
