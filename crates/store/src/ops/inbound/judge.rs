//! Judges one event for one Address and stores the result.

use loom_domain::{
    Address, Agent, Code, Connection, Error, Event, EventId, InboundEvent, InboxId, Membership, Message,
    MessageId, Result,
    decision::{self, Counters, DecisionInput, Judgement, Known},
    dedupe,
    inbox::{self, Event as ItemEvent, Flags, Item, Rejudged, State},
    message::{Decision, EventKind, Origin},
    pending,
    reason::EventReason,
};
use sha2::{Digest as _, Sha256};

use super::{Judged, Offer, counts, facts};
use crate::{
    Audit, Topic, Unit, docs,
    ops::items,
    params,
    records::{StoredEvent, StoredItem},
};

/// The stored objects an event is judged under.
#[derive(Debug, Clone)]
pub struct Context {
    /// Whether the Agent is archived.
    pub agent_archived: bool,
    /// Membership, archived ones left out.
    pub membership: Option<Membership>,
}

/// Reads what an event of a conversation is judged under.
pub(crate) fn context_of(tx: &mut dyn crate::Tx, address: &Address, conversation: &str) -> Result<Context> {
    let agent: Option<Agent> = docs::get(tx, address.agent_id.as_str())?;
    let membership = docs::find(
        tx,
        "address_id = ?1 AND conversation_id = ?2 AND archived = 0",
        &params![address.id.as_str(), conversation],
    )?;
    Ok(Context { agent_archived: agent.is_none_or(|a| a.archived_at.is_some()), membership })
}

struct Subject<'a> {
    connection: &'a Connection,
    address: Option<&'a Address>,
    offer: &'a Offer,
    event: &'a InboundEvent,
    trace_id: String,
}

pub(super) fn for_address(
    unit: &mut Unit<'_>,
    connection: &Connection,
    address: Option<&Address>,
    offer: &Offer,
    event: &InboundEvent,
) -> Result<Judged> {
    let subject = Subject { connection, address, offer, event, trace_id: format!("{:032x}", unit.random()) };
    let (known, earlier) = known(unit, &subject)?;
    let (judgement, membership) = judge(unit, &subject, known, decision::decide)?;
    count_reason(unit, &judgement)?;
    match judgement.decision {
        Decision::Duplicate => duplicate(unit, &subject, earlier, &judgement),
        Decision::Fact => fact(unit, &subject, &judgement),
        Decision::Refused => refusal(unit, &subject, &judgement, earlier.as_ref()),
        Decision::Queued | Decision::Pending => {
            accept(unit, &subject, &judgement, membership.as_ref(), earlier)
        }
    }
}

fn judge(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    known: Known,
    decide: impl Fn(&DecisionInput<'_>) -> Judgement,
) -> Result<(Judgement, Option<Membership>)> {
    let (context, counters) = match subject.address {
        Some(address) => (
            context_of(unit.tx, address, &subject.event.conversation.conversation_id)?,
            counts::take(unit, subject.connection, address, subject.event)?,
        ),
        None => (Context { agent_archived: false, membership: None }, Counters::default()),
    };
    let judgement = decide(&DecisionInput {
        event: subject.event,
        connection: subject.connection,
        address: subject.address,
        agent_archived: context.agent_archived,
        membership: context.membership.as_ref(),
        own_ids: &subject.offer.own_ids,
        known,
        counters,
        now: unit.now,
        limits: subject.offer.limits,
    });
    Ok((judgement, context.membership))
}

/// What the ledger knows of the event, and the record that knows it.
fn known(unit: &mut Unit<'_>, subject: &Subject<'_>) -> Result<(Known, Option<StoredEvent>)> {
    let address = subject.address.map_or("", |a| a.id.as_str());
    let by_event = unit.tx.first(
        "SELECT event_id FROM event_keys WHERE connection_id = ?1 AND event_key = ?2 AND address_id = ?3",
        &params![subject.connection.id.as_str(), dedupe::event_key(subject.event), address],
    )?;
    if let Some(row) = by_event {
        return Ok((Known::Event, docs::get(unit.tx, row.text(0))?));
    }
    let Some(key) = dedupe::message_key(subject.event) else { return Ok((Known::New, None)) };
    let by_message = unit.tx.first(
        "SELECT event_id FROM message_keys WHERE address_id = ?1 AND message_key = ?2",
        &params![address, key],
    )?;
    let Some(row) = by_message else { return Ok((Known::New, None)) };
    let Some(stored) = docs::get::<StoredEvent>(unit.tx, row.text(0))? else {
        let reason = EventReason::Accepted;
        return Ok((Known::Message { reason, evidence: loom_domain::message::Evidence::default() }, None));
    };
    Ok((Known::Message { reason: stored.event.reason, evidence: stored.evidence }, Some(stored)))
}

fn count_reason(unit: &mut Unit<'_>, judgement: &Judgement) -> Result<()> {
    unit.tx.execute(
        "INSERT INTO reason_counts (reason, decision, total) VALUES (?1, ?2, 1) \
         ON CONFLICT (reason) DO UPDATE SET total = reason_counts.total + 1",
        &params![judgement.reason.as_str(), judgement.decision.as_str()],
    )?;
    Ok(())
}

fn duplicate(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    earlier: Option<StoredEvent>,
    judgement: &Judgement,
) -> Result<Judged> {
    put_event_key(unit, subject, earlier.as_ref().map_or("", |e| e.event.id.as_str()))?;
    let item_id = match earlier.as_ref().and_then(|e| e.event.message_id.clone()) {
        Some(message) => item_id_of(unit, &message, subject.address)?,
        None => None,
    };
    Ok(Judged {
        event_id: subject.event.event_id.clone(),
        decision: Decision::Duplicate,
        reason: earlier.as_ref().map_or(judgement.reason, |e| e.event.reason),
        record: earlier.as_ref().map(|e| e.event.id.clone()),
        item_id,
        message_id: earlier.and_then(|e| e.event.message_id),
    })
}

fn item_id_of(
    unit: &mut Unit<'_>,
    message: &MessageId,
    address: Option<&Address>,
) -> Result<Option<InboxId>> {
    let values = params![message.as_str(), address.map_or("", |a| a.id.as_str())];
    let row = unit.tx.first("SELECT id FROM inbox WHERE message_id = ?1 AND address_id = ?2", &values)?;
    row.map(|row| row.text(0).parse()).transpose()
}

fn fact(unit: &mut Unit<'_>, subject: &Subject<'_>, judgement: &Judgement) -> Result<Judged> {
    let message = match subject.address {
        Some(address) => facts::apply(unit, subject.connection, address, subject.event)?,
        None => None,
    };
    let stored = put_event(unit, subject, judgement, message.as_ref().map(|m| m.id.clone()), true)?;
    put_event_key(unit, subject, stored.event.id.as_str())?;
    Ok(judged(subject, judgement, &stored, None))
}

fn refusal(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
    earlier: Option<&StoredEvent>,
) -> Result<Judged> {
    let keeps_body = subject.address.is_some_and(|a| a.refusal_body == loom_domain::RefusalBody::Keep);
    let stored = put_event(unit, subject, judgement, None, keeps_body)?;
    put_event_key(unit, subject, stored.event.id.as_str())?;
    if earlier.is_none() && judgement.reason != EventReason::Malformed {
        put_message_key(unit, subject, stored.event.id.as_str())?;
    }
    if let (Some(address), EventReason::MembershipMissing) = (subject.address, judgement.reason) {
        facts::see_candidate(unit, address, subject.event, None)?;
    }
    if judgement.reason == EventReason::QueueFull {
        let object = subject.address.map_or("", |a| a.agent_id.as_str()).to_owned();
        crate::ops::notices::tell(
            unit,
            crate::ops::notices::Tell {
                kind: "queue_full",
                object: &object,
                text: "messages are refused because the queue is full".to_owned(),
                hint: "loom inbox list --state queued".to_owned(),
            },
        )?;
    }
    audit_event(unit, &stored)?;
    Ok(judged(subject, judgement, &stored, None))
}

fn accept(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
    membership: Option<&Membership>,
    earlier: Option<StoredEvent>,
) -> Result<Judged> {
    let Some(address) = subject.address else { return Err(Error::internal("accepted without an address")) };
    let message = put_message(unit, subject, judgement)?;
    let stored = put_event(unit, subject, judgement, Some(message.id.clone()), true)?;
    put_event_key(unit, subject, stored.event.id.as_str())?;
    if let Some(earlier) = earlier {
        repoint_message_key(unit, subject, &earlier, stored.event.id.as_str())?;
    } else {
        put_message_key(unit, subject, stored.event.id.as_str())?;
    }
    let item = put_item(unit, subject, judgement, address, membership, &message)?;
    if judgement.decision == Decision::Queued {
        counts::spend(unit, address, subject.event)?;
        crate::ops::outbox::note_answer(unit, subject.connection, &message)?;
    }
    audit_event(unit, &stored)?;
    unit.wake(Topic::Inbox);
    Ok(judged(subject, judgement, &stored, Some(item.item.id)))
}

fn judged(
    subject: &Subject<'_>,
    judgement: &Judgement,
    stored: &StoredEvent,
    item_id: Option<InboxId>,
) -> Judged {
    Judged {
        event_id: subject.event.event_id.clone(),
        decision: judgement.decision,
        reason: judgement.reason,
        record: Some(stored.event.id.clone()),
        item_id,
        message_id: stored.event.message_id.clone(),
    }
}

fn put_event(
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

fn put_event_key(unit: &mut Unit<'_>, subject: &Subject<'_>, record: &str) -> Result<()> {
    unit.tx.execute(
        "INSERT INTO event_keys (connection_id, event_key, address_id, event_id, at) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (connection_id, event_key, address_id) DO NOTHING",
        &params![
            subject.connection.id.as_str(),
            dedupe::event_key(subject.event),
            subject.address.map_or("", |a| a.id.as_str()),
            record,
            unit.now
        ],
    )?;
    Ok(())
}

fn put_message_key(unit: &mut Unit<'_>, subject: &Subject<'_>, record: &str) -> Result<()> {
    let Some(key) = dedupe::message_key(subject.event) else { return Ok(()) };
    unit.tx.execute(
        "INSERT INTO message_keys (address_id, message_key, event_id, at) VALUES (?1, ?2, ?3, ?4)",
        &params![subject.address.map_or("", |a| a.id.as_str()), key, record, unit.now],
    )?;
    Ok(())
}

fn repoint_message_key(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    earlier: &StoredEvent,
    record: &str,
) -> Result<()> {
    let Some(key) = earlier.event.message_key.clone() else { return put_message_key(unit, subject, record) };
    unit.tx.execute(
        "UPDATE message_keys SET event_id = ?3 WHERE address_id = ?1 AND message_key = ?2",
        &params![subject.address.map_or("", |a| a.id.as_str()), key, record],
    )?;
    Ok(())
}

fn put_message(unit: &mut Unit<'_>, subject: &Subject<'_>, judgement: &Judgement) -> Result<Message> {
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

fn put_item(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    judgement: &Judgement,
    address: &Address,
    membership: Option<&Membership>,
    message: &Message,
) -> Result<StoredItem> {
    let (state, _) = inbox::created(judgement.pending);
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

fn audit_event(unit: &mut Unit<'_>, stored: &StoredEvent) -> Result<()> {
    unit.audit(&Audit {
        action: "event.judge",
        object: stored.event.id.as_str(),
        versions: (None, None),
        outcome: stored.event.reason.as_str(),
        detail: serde_json::json!({"decision": stored.event.decision, "step": stored.event.step, "policy": stored.event.policy_version}),
    })
}

/// Judges a pending item again under present policy: it is queued at its old place, or cancelled with the reason.
pub(crate) fn rejudge_item(unit: &mut Unit<'_>, stored: &mut StoredItem) -> Result<()> {
    let Some(address_id) = stored.item.address_id.clone() else {
        return Err(Error::internal("a pending item without address"));
    };
    let address: Address = docs::require(unit.tx, address_id.as_str())?;
    let connection: Connection = docs::require(unit.tx, address.connection_id.as_str())?;
    let message: Message = docs::require(unit.tx, stored.item.message_id.as_str())?;
    let event = event_of(&message);
    let offer = Offer {
        connection_id: connection.id.clone(),
        fence: None,
        own_ids: Vec::new(),
        limits: decision::Limits::default(),
    };
    let subject = Subject {
        connection: &connection,
        address: Some(&address),
        offer: &offer,
        event: &event,
        trace_id: stored.item.trace_id.clone(),
    };
    let (judgement, membership) =
        judge(unit, &subject, Known::New, |input| decision::rejudge(input, message.evidence))?;
    let verdict = match judgement.decision {
        Decision::Queued => Rejudged::Accepted,
        Decision::Pending => Rejudged::StillPending,
        _ => Rejudged::Refused(judgement.reason),
    };
    if verdict == Rejudged::Accepted {
        stored.item.membership_id = membership.map(|m| m.id);
    }
    items::step(unit, stored, &ItemEvent::Rejudge(verdict))?;
    Ok(())
}

/// The event a stored message came from, as far as judging needs it.
pub(crate) fn event_of(message: &Message) -> InboundEvent {
    InboundEvent {
        event_id: message.id.to_string(),
        kind: EventKind::Message,
        occurred_at: Some(message.occurred_at),
        conversation: message.conversation.clone(),
        parent_type: None,
        sender: Some(message.sender.clone()),
        content: message.current().clone(),
        mentions: message.mentions.clone(),
        dispatch: message.evidence.explicit_dispatch,
        reply_expected: message.response_expectation,
        target_message_id: None,
        message_key: None,
        bare_mention: false,
        thread_context: None,
        fact: None,
        cursor: None,
        raw: serde_json::Value::Null,
    }
}

pub(super) fn replay(
    unit: &mut Unit<'_>,
    id: &EventId,
    offer: &Offer,
    text: Option<String>,
) -> Result<Judged> {
    let stored: StoredEvent = docs::require_locked(unit.tx, id.as_str())?;
    if !stored.is_refusal() {
        return Err(Error::new(Code::InvalidState, format!("{id} was not refused")));
    }
    let connection: Connection = docs::require(unit.tx, stored.event.connection_id.as_str())?;
    let address: Option<Address> = match &stored.event.address_id {
        Some(address) => docs::get(unit.tx, address.as_str())?,
        None => None,
    };
    let mut event = stored.event.inbound.clone();
    if let Some(text) = text {
        event.content.text = text;
    }
    let subject = Subject {
        connection: &connection,
        address: address.as_ref(),
        offer,
        event: &event,
        trace_id: stored.event.trace_id.clone(),
    };
    if let Some(found) = already_replayed(unit, &subject)? {
        return Ok(found);
    }
    let (judgement, membership) = judge(unit, &subject, Known::New, decision::replay)?;
    match judgement.decision {
        Decision::Queued | Decision::Pending => {
            accept(unit, &subject, &judgement, membership.as_ref(), Some(stored))
        }
        _ => Ok(judged(&subject, &judgement, &stored, None)),
    }
}

/// The accepted result that the message's key points at, when an earlier replay accepted it.
fn already_replayed(unit: &mut Unit<'_>, subject: &Subject<'_>) -> Result<Option<Judged>> {
    let Some(key) = dedupe::message_key(subject.event) else { return Ok(None) };
    let values = params![subject.address.map_or("", |a| a.id.as_str()), key];
    let Some(row) = unit
        .tx
        .first("SELECT event_id FROM message_keys WHERE address_id = ?1 AND message_key = ?2", &values)?
    else {
        return Ok(None);
    };
    let Some(stored) = docs::get::<StoredEvent>(unit.tx, row.text(0))? else { return Ok(None) };
    let Some(message_id) = stored.event.message_id.clone() else { return Ok(None) };
    Ok(Some(Judged {
        event_id: subject.event.event_id.clone(),
        decision: Decision::Duplicate,
        reason: stored.event.reason,
        record: Some(stored.event.id),
        item_id: item_id_of(unit, &message_id, subject.address)?,
        message_id: Some(message_id),
    }))
}

/// Whether an item may still be judged again.
pub(crate) fn is_pending(stored: &StoredItem) -> bool {
    stored.item.state == State::PendingAccess
}
