//! Judges one event for one Address and stores the result.

mod again;
mod context;
mod keys;
mod rows;

use loom_domain::{
    Address, Connection, Error, InboundEvent, InboxId, Membership, Result,
    decision::{self, Judgement},
    message::Decision,
    reason::EventReason,
};

use self::{
    context::judge,
    rows::{audit_event, put_event, put_item, put_message},
};
use super::{Judged, Offer, counts, facts};
use crate::{Topic, Unit, params, records::StoredEvent};

pub(super) use again::replay;
pub(crate) use again::{event_of, is_pending, rejudge_item};
pub(crate) use context::context_of;

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
    let (known, earlier) = keys::known(unit, &subject)?;
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
    keys::put_event(unit, subject, earlier.as_ref().map_or("", |e| e.event.id.as_str()))?;
    let item_id = match earlier.as_ref().and_then(|e| e.event.message_id.clone()) {
        Some(message) => keys::item_id_of(unit, &message, subject.address)?,
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

fn fact(unit: &mut Unit<'_>, subject: &Subject<'_>, judgement: &Judgement) -> Result<Judged> {
    let message = match subject.address {
        Some(address) => facts::apply(unit, subject.connection, address, subject.event)?,
        None => None,
    };
    let stored = put_event(unit, subject, judgement, message.as_ref().map(|m| m.id.clone()), true)?;
    keys::put_event(unit, subject, stored.event.id.as_str())?;
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
    keys::put_event(unit, subject, stored.event.id.as_str())?;
    if earlier.is_none() && judgement.reason != EventReason::Malformed {
        keys::put_message(unit, subject, stored.event.id.as_str())?;
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
    keys::put_event(unit, subject, stored.event.id.as_str())?;
    if let Some(earlier) = earlier {
        keys::repoint_message(unit, subject, &earlier, stored.event.id.as_str())?;
    } else {
        keys::put_message(unit, subject, stored.event.id.as_str())?;
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
