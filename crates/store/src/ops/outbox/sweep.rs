//! What time and restarts do to the Outbox.

use loom_domain::{
    ConnectionId, OutboxItem, Result,
    outbox::{PartEvent, ReplyState, State},
};

use super::parts;
use crate::{Topic, Unit, docs, ops::notices, params, records::StoredPart};

const SWEPT_MAX: u32 = 500;

/// Parts left in flight by an older owner: before the publish step they are pending again, after it unknown.
pub(super) fn recover(unit: &mut Unit<'_>, connection: &ConnectionId) -> Result<u64> {
    let left: Vec<StoredPart> = docs::select(
        unit.tx,
        "connection_id = ?1 AND open = 1 AND state = 'sending' ORDER BY seq",
        &params![connection.as_str()],
    )?;
    let count = u64::try_from(left.len()).unwrap_or(0);
    for mut stored in left {
        let mut item: OutboxItem = docs::require_locked(unit.tx, stored.part.outbox_id.as_str())?;
        let attempt = parts::newest_attempt(unit, &stored.part.id)?;
        let context = parts::context(unit, &stored, attempt.as_ref(), None);
        parts::apply(unit, &mut item, &mut stored, attempt, &PartEvent::LeaseLost, &context)?;
        parts::refold(unit, &mut item)?;
    }
    if count > 0 {
        unit.wake(Topic::Outbox);
    }
    Ok(count)
}

/// Ends what expired and releases what was held until now.
pub(super) fn run(unit: &mut Unit<'_>) -> Result<u64> {
    Ok(expire(unit)? + release_quiet(unit)? + overdue(unit)?)
}

fn expire(unit: &mut Unit<'_>) -> Result<u64> {
    let old: Vec<StoredPart> = docs::select(
        unit.tx,
        "open = 1 AND state IN ('pending', 'retry_wait') AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2",
        &params![unit.now, SWEPT_MAX],
    )?;
    let mut moved = 0;
    for old in old {
        // An earlier Part of the same item may have ended this one already.
        let mut stored: StoredPart = docs::require(unit.tx, old.part.id.as_str())?;
        if stored.part.state != old.part.state {
            continue;
        }
        let mut item: OutboxItem = docs::require_locked(unit.tx, stored.part.outbox_id.as_str())?;
        if item.state == State::Held {
            item.state = State::Pending;
            item.held_until = None;
        }
        let context = parts::context(unit, &stored, None, None);
        parts::apply(unit, &mut item, &mut stored, None, &PartEvent::Expire, &context)?;
        parts::refold(unit, &mut item)?;
        moved += 1;
    }
    Ok(moved)
}

fn release_quiet(unit: &mut Unit<'_>) -> Result<u64> {
    let held: Vec<OutboxItem> = docs::select(
        unit.tx,
        "state = 'held' AND open = 1 AND held_until > 0 AND held_until <= ?1 ORDER BY seq LIMIT ?2",
        &params![unit.now, SWEPT_MAX],
    )?;
    let mut moved = 0;
    for mut item in held {
        item.state = State::Pending;
        item.state_reason = None;
        item.held_until = None;
        parts::save_item(unit, &mut item)?;
        moved += 1;
    }
    Ok(moved)
}

fn overdue(unit: &mut Unit<'_>) -> Result<u64> {
    let waiting: Vec<OutboxItem> = docs::select(
        unit.tx,
        "awaited = 1 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2",
        &params![unit.now, SWEPT_MAX],
    )?;
    let mut moved = 0;
    for mut item in waiting {
        item.reply_state = ReplyState::Overdue;
        parts::save_item(unit, &mut item)?;
        let (id, hint) = (item.id.to_string(), format!("loom outbox get {}", item.id));
        notices::tell(
            unit,
            notices::Tell {
                kind: "reply_overdue",
                object: &id,
                text: format!("nobody answered {id} in time"),
                hint,
            },
        )?;
        moved += 1;
    }
    Ok(moved)
}
