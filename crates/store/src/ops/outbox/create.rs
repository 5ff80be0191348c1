//! Stores admitted sends as Outbox items with ordered Parts.

use loom_domain::{
    Connection, ConversationType, Error, Expectation, Message, OutboxId, OutboxItem, Part, PartId, Result,
    admission::{Admission, Held},
    idempotency::Verdict,
    inbox::{Event as ItemEvent, State as ItemState},
    message::SenderKind,
    outbox::{OutboxConversation, OutboxReason, PartKind, PartState, ReplyState, State, Stop, Target},
};
use serde_json::json;

use super::{Admitted, Draft, Sent, To, admit, parts};
use crate::{
    Audit, Topic, Unit, docs,
    ops::{items, notices, outbox_read},
    params,
    records::{StoredItem, StoredPart},
};

/// Admits and stores a send. A reply moves its item in the same commit.
pub(super) fn send(unit: &mut Unit<'_>, to: &To, draft: &Draft) -> Result<Sent> {
    let admitted = admit::admit(unit, to, draft)?;
    if let Admission::Existing(verdict) = &admitted.admission {
        let earlier = admitted.earlier.ok_or_else(|| Error::internal("an earlier send is missing"))?;
        let duplicate = matches!(verdict, Verdict::Duplicate | Verdict::Same | Verdict::Unknown);
        return sent(unit, earlier, duplicate);
    }
    let id = match to {
        To::Item(item) => {
            let mut stored: StoredItem = docs::require_locked(unit.tx, item.as_str())?;
            refuse_partial(unit, &stored, draft)?;
            let next = items::advance(unit, &mut stored, &ItemEvent::Reply)?;
            let supersede = next.effects.contains(&loom_domain::inbox::Effect::SupersedeReply);
            create_reply(unit, &mut stored, &admitted, supersede)?
        }
        To::Membership { .. } => create(unit, &admitted, None)?,
    };
    crate::fail::point("send.before_commit")?;
    let item = docs::require(unit.tx, id.as_str())?;
    sent(unit, item, false)
}

/// A new reply after a partly delivered one needs the owner's or Agent's explicit word.
fn refuse_partial(unit: &mut Unit<'_>, stored: &StoredItem, draft: &Draft) -> Result<()> {
    let facts = items::reply_facts(unit, stored)?;
    if facts.has_unknown_part || (facts.has_sent_part && facts.is_failed && !draft.after_partial) {
        return Err(Error::new(
            loom_domain::Code::ReplyPartiallySent,
            format!("part of an earlier reply to {} reached the platform or may have", stored.item.id),
        ));
    }
    Ok(())
}

fn sent(unit: &mut Unit<'_>, item: OutboxItem, duplicate: bool) -> Result<Sent> {
    Ok(Sent { parts: outbox_read::parts_of(unit.tx, &item.id)?, item, duplicate })
}

/// Stores a reply and links it to its item.
pub(crate) fn create_reply(
    unit: &mut Unit<'_>,
    stored: &mut StoredItem,
    admitted: &Admitted,
    supersede: bool,
) -> Result<OutboxId> {
    let id = create(unit, admitted, Some(stored))?;
    if supersede && let Some(old) = stored.item.outbox_ids.last().cloned() {
        supersede_item(unit, &old, &id)?;
    }
    stored.item.outbox_ids.push(id.clone());
    docs::update(unit.tx, stored)?;
    Ok(id)
}

fn supersede_item(unit: &mut Unit<'_>, old: &OutboxId, new: &OutboxId) -> Result<()> {
    let mut item: OutboxItem = docs::require_locked(unit.tx, old.as_str())?;
    item.superseded_by = Some(new.clone());
    parts::stop_all(unit, &mut item, Stop::Cancelled(OutboxReason::Superseded))
}

fn create(unit: &mut Unit<'_>, admitted: &Admitted, answers: Option<&StoredItem>) -> Result<OutboxId> {
    let Admission::New { held, .. } = &admitted.admission else {
        return Err(Error::internal("an existing send was to be created"));
    };
    let item = item_of(unit, admitted, answers, held.as_ref())?;
    let id = item.id.clone();
    docs::insert(unit.tx, &item)?;
    put_parts(unit, &item, &admitted.draft)?;
    if let Some(scope) = &admitted.scope {
        unit.tx.execute(
            "INSERT INTO idempotency (scope, outbox_id, at) VALUES (?1, ?2, ?3) \
             ON CONFLICT (scope) DO UPDATE SET outbox_id = excluded.outbox_id, at = excluded.at",
            &params![scope.as_str(), id.as_str(), unit.now],
        )?;
    }
    if let Some(Held::Release(labels)) = held {
        notices::tell(
            unit,
            notices::Tell {
                kind: "release_required",
                object: id.as_str(),
                text: format!("{id} holds content of {} and waits for your release", labels.join(", ")),
                hint: "loom policy releases".to_owned(),
            },
        )?;
    }
    unit.change("outbox.changed", id.as_str(), Some(item.agent_id.as_str()), 1, &["state"])?;
    unit.audit(&Audit {
        action: "outbox.create",
        object: id.as_str(),
        versions: (None, Some(1)),
        outcome: item.state.as_str(),
        detail: json!({"answers": item.inbox_item_id, "membership": item.membership_id, "parts": item.total_parts, "fingerprint": item.fingerprint}),
    })?;
    unit.wake(Topic::Outbox);
    Ok(id)
}

fn item_of(
    unit: &mut Unit<'_>,
    admitted: &Admitted,
    answers: Option<&StoredItem>,
    held: Option<&Held>,
) -> Result<OutboxItem> {
    let draft = &admitted.draft;
    let ttl_seconds = draft
        .ttl_seconds
        .or_else(|| admitted.membership.as_ref().map(|m| m.ttl_seconds))
        .unwrap_or(loom_domain::membership::TTL_SECONDS);
    let (conversation_id, conversation_type, target) = place_of(admitted)?;
    let (reason, held_until) = match held {
        None => (None, None),
        Some(Held::Release(_)) => (Some(OutboxReason::ReleaseRequired), None),
        Some(Held::Quiet(until)) => (Some(OutboxReason::QuietHours), Some(*until)),
    };
    let total = draft.chunks.len() + draft.files.len();
    let trace_id = answers.map_or_else(|| format!("{:032x}", unit.random()), |a| a.item.trace_id.clone());
    Ok(OutboxItem {
        id: OutboxId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        agent_id: admitted.agent_id.clone(),
        address_id: admitted.address.id.clone(),
        membership_id: admitted.membership.as_ref().map(|m| m.id.clone()),
        inbox_item_id: answers.map(|a| a.item.id.clone()),
        conversation: OutboxConversation {
            provider: admitted.connection.provider.clone(),
            connection_id: admitted.connection.id.clone(),
            conversation_id,
            conversation_type,
        },
        target,
        text: admitted.request.text.clone(),
        format: admitted.request.format,
        state: if held.is_some() { State::Held } else { State::Pending },
        state_reason: reason,
        held_until,
        expect_reply: admitted.request.expect_reply,
        reply_state: if admitted.request.expect_reply == Expectation::Required {
            ReplyState::Waiting
        } else {
            ReplyState::None
        },
        idempotency_key: draft.idempotency_key.clone(),
        fingerprint: admitted.fingerprint.clone(),
        labels: admitted.labels.clone(),
        ttl_seconds,
        expires_at: unit.now.plus_ms(i64::try_from(ttl_seconds).unwrap_or(i64::MAX).saturating_mul(1_000)),
        urgent: draft.urgent,
        partial: false,
        sent_parts: 0,
        total_parts: u32::try_from(total).unwrap_or(u32::MAX),
        superseded_by: None,
        last_error: None,
        trace_id,
        created_at: unit.now,
        updated_at: unit.now,
    })
}

/// Where a send goes: a reply to the place of its message, any other send to its Membership's conversation.
fn place_of(admitted: &Admitted) -> Result<(String, Option<ConversationType>, Target)> {
    if let Some(message) = &admitted.message {
        let place = &message.conversation;
        let target = Target { thread_id: place.thread_id.clone(), message_id: place.message_id.clone() };
        return Ok((place.conversation_id.clone(), place.conversation_type, target));
    }
    let membership =
        admitted.membership.as_ref().ok_or_else(|| Error::internal("a send without membership"))?;
    let kind = Some(membership.conversation_type);
    Ok((membership.conversation_id.clone(), kind, admitted.draft.target.clone()))
}

fn put_parts(unit: &mut Unit<'_>, item: &OutboxItem, draft: &Draft) -> Result<()> {
    let mut n = 0;
    for chunk in &draft.chunks {
        n += 1;
        let part = Part { text: Some(chunk.clone()), ..blank(unit, item, n, PartKind::Text)? };
        put_part(unit, item, part)?;
    }
    for file in &draft.files {
        n += 1;
        let part = Part {
            artifact_id: Some(file.artifact_id.clone()),
            name: Some(file.file.name.clone()),
            mime_type: Some(file.mime_type.clone()),
            size: Some(file.file.size),
            sha256: Some(file.file.sha256.clone()),
            ..blank(unit, item, n, PartKind::File)?
        };
        unit.tx.execute(
            "INSERT INTO artifact_refs (artifact_id, owner_id) VALUES (?1, ?2) ON CONFLICT (artifact_id, owner_id) DO NOTHING",
            &params![file.artifact_id.as_str(), item.id.as_str()],
        )?;
        put_part(unit, item, part)?;
    }
    Ok(())
}

fn blank(unit: &mut Unit<'_>, item: &OutboxItem, n: u32, kind: PartKind) -> Result<Part> {
    Ok(Part {
        id: PartId::new(unit.now.0, unit.random()),
        outbox_id: item.id.clone(),
        seq: unit.seq()?,
        n,
        kind,
        text: None,
        artifact_id: None,
        name: None,
        mime_type: None,
        size: None,
        sha256: None,
        state: PartState::Pending,
        until: None,
        attempt_count: 0,
        settle_count: 0,
        absent_reads: 0,
        absent_at: None,
        lease_until: None,
        fence: 0,
        blocked_by: None,
        receipt: None,
        duplicate_receipts: Vec::new(),
        last_error: None,
    })
}

fn put_part(unit: &mut Unit<'_>, item: &OutboxItem, part: Part) -> Result<()> {
    docs::insert(
        unit.tx,
        &StoredPart {
            part,
            connection_id: item.conversation.connection_id.to_string(),
            conversation_id: item.conversation.conversation_id.clone(),
            expires_at: item.expires_at,
        },
    )
}

/// Cancels what has not left of every live reply of an item that closes.
pub(crate) fn cancel_replies(unit: &mut Unit<'_>, stored: &StoredItem) -> Result<()> {
    let reason = match stored.item.state_reason {
        Some(loom_domain::reason::ItemReason::Recalled) => OutboxReason::Recalled,
        _ => OutboxReason::OwnerCancelled,
    };
    debug_assert!(stored.item.state.is_final() || stored.item.state == ItemState::Handled);
    for id in stored.item.outbox_ids.clone() {
        let mut item: OutboxItem = docs::require_locked(unit.tx, id.as_str())?;
        if matches!(item.state, State::Sent | State::Cancelled) {
            continue;
        }
        parts::stop_all(unit, &mut item, Stop::Cancelled(reason))?;
    }
    Ok(())
}

/// A human message in the thread of a send that expects an answer marks it answered.
pub(crate) fn note_answer(unit: &mut Unit<'_>, connection: &Connection, message: &Message) -> Result<()> {
    if message.sender.kind != SenderKind::Human {
        return Ok(());
    }
    let Some(thread) = message.conversation.thread_id.as_deref() else { return Ok(()) };
    let sql = "SELECT outbox_id FROM receipts WHERE connection_id = ?1 AND external_id = ?2 AND conversation_id = ?3";
    let values = params![connection.id.as_str(), thread, message.conversation.conversation_id.as_str()];
    let Some(row) = unit.tx.first(sql, &values)? else { return Ok(()) };
    let Some(mut item) = docs::get::<OutboxItem>(unit.tx, row.text(0))? else { return Ok(()) };
    if item.reply_state != ReplyState::Waiting {
        return Ok(());
    }
    item.reply_state = ReplyState::Answered;
    parts::save_item(unit, &mut item)
}
