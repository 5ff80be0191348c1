//! Moves Inbox items along their state machine and carries out what a move asks of the store.

use loom_domain::{
    Address, Code, Error, HandlingAttempt, OutboxItem, Result, Turn, TurnId,
    inbox::{Effect, Event, Next, OwnerNotice, ReplyFacts, transition},
    outbox::PartState,
    turn::{AttemptStatus, ClassedError, TurnState},
};
use serde_json::json;

use super::notices::{self, Tell};
use crate::{Audit, Topic, Unit, docs, params, records::StoredItem};

/// Facts of the newest reply of an item.
pub(crate) fn reply_facts(unit: &mut Unit<'_>, item: &StoredItem) -> Result<ReplyFacts> {
    let Some(newest) = item.item.outbox_ids.last() else { return Ok(ReplyFacts::default()) };
    let outbox: OutboxItem = docs::require(unit.tx, newest.as_str())?;
    let rows = unit.tx.query("SELECT state FROM parts WHERE outbox_id = ?1", &params![newest.as_str()])?;
    let parts = rows.iter().map(|row| row.text(0).parse()).collect::<Result<Vec<PartState>>>()?;
    Ok(ReplyFacts::of(outbox.state, &parts))
}

/// Applies an event to an item, saves it, and carries out the effects that belong to the same commit.
pub(crate) fn advance(unit: &mut Unit<'_>, stored: &mut StoredItem, event: &Event) -> Result<Next> {
    let facts = reply_facts(unit, stored)?;
    let next = transition(&stored.item, facts, event, unit.now)?;
    let before = stored.item.state;
    let is_change = next.changes(&stored.item) || !next.effects.is_empty();
    next.apply(&mut stored.item);
    if is_change {
        save(unit, stored, before.as_str(), event.word())?;
    }
    for effect in next.effects.clone() {
        carry_out(unit, stored, effect)?;
    }
    Ok(next)
}

/// Applies an event of which the caller needs no more than the item.
pub(crate) fn step(unit: &mut Unit<'_>, stored: &mut StoredItem, event: &Event) -> Result<()> {
    advance(unit, stored, event).map(|_| ())
}

/// Writes an item back with its change, audit row and wake-up.
pub(crate) fn save(unit: &mut Unit<'_>, stored: &mut StoredItem, before: &str, why: &str) -> Result<()> {
    stored.item.version += 1;
    stored.item.updated_at = unit.now;
    docs::update(unit.tx, stored)?;
    let item = &stored.item;
    let id = item.id.to_string();
    unit.change("inbox.changed", &id, Some(item.agent_id.as_str()), item.version, &["state"])?;
    unit.audit(&Audit {
        action: "inbox.state",
        object: &id,
        versions: (Some(item.version - 1), Some(item.version)),
        outcome: item.state.as_str(),
        detail: json!({"from": before, "by": why, "reason": item.state_reason}),
    })?;
    unit.wake(Topic::Inbox);
    Ok(())
}

fn carry_out(unit: &mut Unit<'_>, stored: &mut StoredItem, effect: Effect) -> Result<()> {
    match effect {
        Effect::CloseAttempt(status) => close_attempt(unit, stored, status),
        Effect::BlockActor => block_actor(unit, stored),
        Effect::CancelUnsentParts => super::outbox::cancel_replies(unit, stored),
        Effect::Tell(kind) => tell(unit, stored, kind),
        Effect::InterruptTurn => {
            let (turn, agent) = (stored.item.turn_id.clone(), stored.item.agent_id.clone());
            match turn {
                Some(turn) => unit.change("turn.interrupt", turn.as_str(), Some(agent.as_str()), 0, &[]),
                None => Ok(()),
            }
        }
        Effect::KeepAnswer(code) => keep_answer(unit, stored, code),
        // The caller holds the reply's content and reads these off the move.
        Effect::CreateOutbox | Effect::SupersedeReply => Ok(()),
    }
}

/// The Attempt of a Turn.
pub(super) fn attempt_of(unit: &mut Unit<'_>, turn_id: &TurnId) -> Result<HandlingAttempt> {
    docs::find(unit.tx, "turn_id = ?1", &params![turn_id.as_str()])?
        .ok_or_else(|| Error::not_found("attempt of turn", turn_id.as_str()))
}

/// Writes the code that refused an answer beside the answer.
fn keep_answer(unit: &mut Unit<'_>, stored: &StoredItem, code: Code) -> Result<()> {
    let Some(turn_id) = &stored.item.turn_id else { return Ok(()) };
    let mut attempt = attempt_of(unit, turn_id)?;
    attempt.error = Some(ClassedError { class: code.as_str().to_owned(), message: code.about().to_owned() });
    docs::update(unit.tx, &attempt)
}

fn close_attempt(unit: &mut Unit<'_>, stored: &StoredItem, status: AttemptStatus) -> Result<()> {
    let Some(turn_id) = stored.item.turn_id.clone() else { return Ok(()) };
    let mut attempt = attempt_of(unit, &turn_id)?;
    attempt.status = status;
    attempt.ended_at = Some(unit.now);
    docs::update(unit.tx, &attempt)?;
    let mut turn: Turn = docs::require(unit.tx, turn_id.as_str())?;
    turn.state = match status {
        AttemptStatus::Completed => TurnState::Completed,
        AttemptStatus::Failed => TurnState::Failed,
        AttemptStatus::Interrupted => TurnState::Interrupted,
        AttemptStatus::NotStarted | AttemptStatus::Starting | AttemptStatus::Running => TurnState::Lost,
    };
    turn.ended_at = Some(unit.now);
    docs::update(unit.tx, &turn)?;
    unit.change("turn.changed", turn_id.as_str(), Some(turn.agent_id.as_str()), 0, &["state"])
}

pub(crate) fn block_actor(unit: &mut Unit<'_>, stored: &StoredItem) -> Result<()> {
    let Some(address_id) = &stored.item.address_id else { return Ok(()) };
    let mut address: Address = docs::require_locked(unit.tx, address_id.as_str())?;
    if address.block_actors.contains(&stored.sender_id) {
        return Ok(());
    }
    address.block_actors.push(stored.sender_id.clone());
    address.block_actors.sort();
    address.version += 1;
    address.updated_at = unit.now;
    docs::update(unit.tx, &address)?;
    unit.change(
        "address.changed",
        address_id.as_str(),
        Some(address.agent_id.as_str()),
        address.version,
        &["blockActors"],
    )?;
    unit.audit(&Audit {
        action: "address.block_actor",
        object: address_id.as_str(),
        versions: (Some(address.version - 1), Some(address.version)),
        outcome: "ok",
        detail: json!({"actor": stored.sender_id}),
    })
}

fn tell(unit: &mut Unit<'_>, stored: &StoredItem, kind: OwnerNotice) -> Result<()> {
    let id = stored.item.id.as_str();
    let reason = stored.item.state_reason.map_or("", loom_domain::reason::ItemReason::as_str);
    notices::tell(
        unit,
        Tell {
            kind: kind.as_str(),
            object: id,
            text: format!("{id} is {} ({reason})", stored.item.state),
            hint: format!("loom inbox get {id}"),
        },
    )
}
