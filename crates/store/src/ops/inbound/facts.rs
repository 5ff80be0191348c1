//! Facts about known messages and conversations: edits, recalls, joins, app lifecycle. None creates an item.

use loom_domain::{
    Address, Candidate, CandidateId, Connection, ConversationType, InboundEvent, Message, Result, dedupe,
    facts::{FactEffect, effect},
    inbox::Event as ItemEvent,
    message::Revision,
};

use crate::{
    Unit, docs,
    ops::items,
    params,
    records::{StoredEvent, StoredItem},
};

/// Stores what a fact says. Gives the Message it is about.
pub(super) fn apply(
    unit: &mut Unit<'_>,
    connection: &Connection,
    address: &Address,
    event: &InboundEvent,
) -> Result<Option<Message>> {
    let message = target(unit, connection, address, event)?;
    let mut item = match &message {
        Some(message) => item_of(unit, address, message)?,
        None => None,
    };
    let state = item.as_ref().map(|i| i.item.state);
    match effect(event, message.as_ref().map(Message::current), state) {
        FactEffect::ReviseContent | FactEffect::ReviseWhileHandling => {
            revise(unit, message.as_ref(), event)?;
            mark_edited(unit, item.as_mut())?;
        }
        FactEffect::Recall => {
            revise(unit, message.as_ref(), event)?;
            if let Some(item) = item.as_mut() {
                items::step(unit, item, &ItemEvent::Recall)?;
            }
        }
        FactEffect::ReviseOnly | FactEffect::RecallOnly => revise(unit, message.as_ref(), event)?,
        FactEffect::BotIsMember(is_member) => see_candidate(unit, address, event, Some(is_member))?,
        FactEffect::ConnectionReason(_)
        | FactEffect::Store
        | FactEffect::Ignore
        | FactEffect::UnknownMessage => {}
    }
    Ok(message)
}

fn target(
    unit: &mut Unit<'_>,
    connection: &Connection,
    address: &Address,
    event: &InboundEvent,
) -> Result<Option<Message>> {
    let Some(key) = dedupe::fact_target_key(event) else { return Ok(None) };
    let sql = "SELECT event_id FROM message_keys WHERE address_id = ?1 AND message_key = ?2";
    if let Some(row) = unit.tx.first(sql, &params![address.id.as_str(), key])? {
        let known: Option<StoredEvent> = docs::get(unit.tx, row.text(0))?;
        if let Some(message_id) = known.and_then(|k| k.event.message_id) {
            return docs::get(unit.tx, message_id.as_str());
        }
    }
    let Some(message_id) = event.target_message_id.as_deref() else { return Ok(None) };
    let events: Vec<StoredEvent> = docs::select(
        unit.tx,
        "connection_id = ?1 AND conversation_id = ?2 AND provider_message_id = ?3",
        &params![connection.id.as_str(), event.conversation.conversation_id.as_str(), message_id],
    )?;
    match events.into_iter().find_map(|known| known.event.message_id) {
        Some(message) => docs::get(unit.tx, message.as_str()),
        None => Ok(None),
    }
}

fn item_of(unit: &mut Unit<'_>, address: &Address, message: &Message) -> Result<Option<StoredItem>> {
    docs::find(
        unit.tx,
        "message_id = ?1 AND address_id = ?2",
        &params![message.id.as_str(), address.id.as_str()],
    )
}

const REVISIONS_MAX: usize = 200;

fn revise(unit: &mut Unit<'_>, message: Option<&Message>, event: &InboundEvent) -> Result<()> {
    let Some(message) = message else { return Ok(()) };
    let mut message = message.clone();
    let n = message.revisions.last().map_or(1, |r| r.n.saturating_add(1));
    let content = (event.kind == loom_domain::message::EventKind::Edit).then(|| event.content.clone());
    if message.revisions.len() >= REVISIONS_MAX {
        message.revisions.remove(0);
    }
    message.revisions.push(Revision {
        n,
        kind: event.kind,
        at: event.occurred_at.unwrap_or(unit.now),
        content,
    });
    docs::update(unit.tx, &message)?;
    unit.change("message.changed", message.id.as_str(), None, u64::from(n), &["revisions"])
}

fn mark_edited(unit: &mut Unit<'_>, item: Option<&mut StoredItem>) -> Result<()> {
    let Some(item) = item else { return Ok(()) };
    item.item.flags.edited = true;
    let before = item.item.state;
    items::save(unit, item, before.as_str(), "edit")
}

/// Records that a conversation was seen: it becomes or refreshes a Candidate.
pub(super) fn see_candidate(
    unit: &mut Unit<'_>,
    address: &Address,
    event: &InboundEvent,
    is_member: Option<bool>,
) -> Result<()> {
    let conversation = &event.conversation;
    if conversation.conversation_id.is_empty() {
        return Ok(());
    }
    let values = params![address.id.as_str(), conversation.conversation_id.as_str()];
    let known: Option<Candidate> = docs::find(unit.tx, "address_id = ?1 AND conversation_id = ?2", &values)?;
    if let Some(mut candidate) = known {
        let is_changed = !candidate.available || is_member.is_some_and(|m| m != candidate.bot_is_member);
        candidate.last_seen_at = unit.now;
        candidate.available = true;
        candidate.bot_is_member = is_member.unwrap_or(candidate.bot_is_member);
        docs::update(unit.tx, &candidate)?;
        return if is_changed {
            unit.change("candidate.changed", candidate.id.as_str(), None, 0, &[])
        } else {
            Ok(())
        };
    }
    let candidate = Candidate {
        id: CandidateId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        address_id: address.id.clone(),
        conversation_id: conversation.conversation_id.clone(),
        conversation_type: conversation.conversation_type.unwrap_or(ConversationType::Group),
        display_name: conversation.conversation_id.clone(),
        description: String::new(),
        bot_is_member: is_member.unwrap_or(true),
        available: true,
        first_seen_at: unit.now,
        last_seen_at: unit.now,
    };
    docs::insert(unit.tx, &candidate)?;
    unit.change("candidate.changed", candidate.id.as_str(), None, 0, &[])
}
