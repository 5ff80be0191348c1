//! Judges what is stored again: pending items under present policy, refused events on the owner's demand.

use loom_domain::{
    Address, Code, Connection, Error, EventId, InboundEvent, Message, Result,
    decision::{self, Known},
    dedupe,
    inbox::{Event as ItemEvent, Rejudged, State},
    message::{Decision, EventKind},
};

use super::{Judged, Offer, Subject, accept, context::judge, judged, keys};
use crate::{
    Unit, docs,
    ops::items,
    params,
    records::{StoredEvent, StoredItem},
};

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

pub(in crate::ops::inbound) fn replay(
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
        item_id: keys::item_id_of(unit, &message_id, subject.address)?,
        message_id: Some(message_id),
    }))
}

/// Whether an item may still be judged again.
pub(crate) fn is_pending(stored: &StoredItem) -> bool {
    stored.item.state == State::PendingAccess
}
