//! The records that a judgement leaves: Event, Message, Inbox item, audit row.

use loom_domain::{
    Address, Error, Event, EventId, InboxId, Membership, Message, MessageId, Result,
    decision::Judgement,
    dedupe,
    inbox::{self, Flags, Item},
    message::{Decision, Origin},
    pending,
};
use sha2::{Digest as _, Sha256};

use super::Subject;
use crate::{
    Audit, Unit, docs, params,
    records::{StoredEvent, StoredItem},
};

pub(super) fn put_event(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
    message_id: Option<MessageId>,
    keeps_body: bool,
) -> Result<StoredEvent> {
    let raw = subject.event.raw.to_string();
    let mut inbound = subject.event.clone();
    inbound.raw = serde_json::Value::Null;
    if !keeps_body {
        inbound.content.text = String::new();
        inbound.content.attachments.clear();
    }
    let event = Event {
        id: EventId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        connection_id: subject.connection.id.clone(),
        address_id: subject.address.map(|a| a.id.clone()),
        event_key: dedupe::event_key(subject.event),
        message_key: dedupe::message_key(subject.event),
        kind: subject.event.kind,
        decision: judgement.decision,
        reason: judgement.reason,
        step: judgement.step.to_owned(),
        policy_version: judgement.policy_version,
        raw_sha256: hex::encode(Sha256::digest(raw.as_bytes())),
        message_id,
        inbound,
        received_at: unit.now,
        trace_id: subject.trace_id.clone(),
    };
    let agent_id = subject.address.map(|a| a.agent_id.to_string()).unwrap_or_default();
    let trace = match judgement.decision {
        Decision::Refused => crate::ops::policy::steps(&judgement.trace),
        _ => Vec::new(),
    };
    let stored = StoredEvent { event, agent_id, evidence: judgement.evidence, trace };
    docs::insert(unit.tx, &stored)?;
    if keeps_body && (raw != "null" || judgement.decision == Decision::Refused) {
        unit.tx.execute(
            "INSERT INTO raw_events (event_id, at, raw) VALUES (?1, ?2, ?3)",
            &params![stored.event.id.as_str(), unit.now, raw],
        )?;
    }
    let agent = Some(stored.agent_id.as_str()).filter(|a| !a.is_empty());
    unit.change("event.judged", stored.event.id.as_str(), agent, 1, &[])?;
    Ok(stored)
}

pub(super) fn put_message(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
) -> Result<Message> {
    let event = subject.event;
    let sender = event.sender.clone().ok_or_else(|| Error::internal("accepted without a sender"))?;
    let mut content = event.content.clone();
    if judgement.pending {
        content.text.truncate(pending::kept_text(&content.text).len());
    }
    let message = Message {
        id: MessageId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        origin: Origin::Provider,
        provider: Some(subject.connection.provider.clone()),
        connection_id: Some(subject.connection.id.clone()),
        conversation: event.conversation.clone(),
        sender,
        content,
        mentions: event.mentions.clone(),
        evidence: judgement.evidence,
        thread_context: event.thread_context.clone(),
        response_expectation: event.reply_expected,
        occurred_at: event.occurred_at.unwrap_or(unit.now),
        received_at: unit.now,
        revisions: Vec::new(),
        answers_outbox_id: None,
        trace_id: subject.trace_id.clone(),
    };
    docs::insert(unit.tx, &message)?;
    Ok(message)
}

pub(super) fn put_item(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
    address: &Address,
    membership: Option<&Membership>,
    message: &Message,
) -> Result<StoredItem> {
    let state = inbox::created(judgement.pending);
    let conversation = &message.conversation;
    let item = Item {
        id: InboxId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        agent_id: address.agent_id.clone(),
        address_id: Some(address.id.clone()),
        message_id: message.id.clone(),
        membership_id: membership.filter(|m| m.enabled).map(|m| m.id.clone()),
        queue_key: loom_domain::fairness::queue_key(
            &address.id,
            &conversation.conversation_id,
            conversation.thread_id.as_deref(),
        ),
        state,
        state_reason: None,
        outcome: None,
        note: None,
        available_at: None,
        blocked_by: None,
        attempt_count: 0,
        start_failures: 0,
        active_attempt_id: None,
        turn_id: None,
        outbox_ids: Vec::new(),
        flags: Flags { mention_only: judgement.mention_only, ..Flags::default() },
        trace_id: subject.trace_id.clone(),
        created_at: unit.now,
        updated_at: unit.now,
    };
    let stored = StoredItem {
        item,
        conversation_id: conversation.conversation_id.clone(),
        sender_id: message.sender.external_id.clone(),
        origin: subject.connection.provider.clone(),
    };
    docs::insert(unit.tx, &stored)?;
    unit.change(
        "inbox.changed",
        stored.item.id.as_str(),
        Some(stored.item.agent_id.as_str()),
        1,
        &["state"],
    )?;
    Ok(stored)
}

pub(super) fn audit_event(unit: &mut Unit<'_>, stored: &StoredEvent) -> Result<()> {
    unit.audit(&Audit {
        action: "event.judge",
        object: stored.event.id.as_str(),
        versions: (None, None),
        outcome: stored.event.reason.as_str(),
        detail: serde_json::json!({"decision": stored.event.decision, "step": stored.event.step, "policy": stored.event.policy_version}),
    })
}
