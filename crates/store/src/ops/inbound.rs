//! Takes platform events: judges each once per Address and stores event, message and item in one commit.

mod counts;
mod facts;
mod judge;

use loom_domain::{
    Address, Code, Connection, ConnectionId, Error, EventId, InboundEvent, InboxId, MessageId, Result,
    decision::Limits, message::Decision, reason::EventReason,
};

use crate::{Act, Store, Unit, docs, params, tx::Value};

pub(crate) use judge::{context_of, event_of, is_pending, rejudge_item};

/// Events in one offer.
pub const EVENTS_MAX: usize = 50;

/// How an event was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The platform's id of the event.
    pub event_id: String,
    /// Decision; of several Addresses the strongest.
    pub decision: Decision,
    /// Reason.
    pub reason: EventReason,
    /// Event record.
    pub record: Option<EventId>,
    /// Item.
    pub item_id: Option<InboxId>,
    /// Message.
    pub message_id: Option<MessageId>,
}

/// Who offers events: the owner of the Connection's lease.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Connection.
    pub connection_id: ConnectionId,
    /// Fence of the Connection's lease; `None` when the caller needs none (owner's own tools).
    pub fence: Option<u64>,
    /// Ids under which our own messages come back (bot user, bot, app).
    pub own_ids: Vec<String>,
    /// Limits from the configuration.
    pub limits: Limits,
}

impl Store {
    /// Stores and judges events in the given order, in one commit. An old fence is `lease_lost`, and nothing is stored.
    pub async fn record_inbound(
        &self,
        act: Act,
        offer: Offer,
        events: Vec<InboundEvent>,
    ) -> Result<Vec<Judged>> {
        if events.len() > EVENTS_MAX {
            return Err(Error::new(Code::TooMany, format!("at most {EVENTS_MAX} events in one offer")));
        }
        self.write(act, move |unit| {
            let connection: Connection = docs::require(unit.tx, offer.connection_id.as_str())?;
            check_fence(unit, &offer)?;
            let judged = events.iter().map(|event| record(unit, &connection, &offer, event)).collect();
            crate::fail::point("inbound.before_commit")?;
            judged
        })
        .await
    }

    /// Judges a refused event again on the owner's demand. A second replay finds the item of the first.
    pub async fn replay_refusal(
        &self,
        act: Act,
        event: EventId,
        offer: Offer,
        text: Option<String>,
    ) -> Result<Judged> {
        self.write(act, move |unit| judge::replay(unit, &event, &offer, text.clone())).await
    }
}

fn check_fence(unit: &mut Unit<'_>, offer: &Offer) -> Result<()> {
    match offer.fence {
        Some(fence) => {
            crate::ops::leases::check(unit.tx, &format!("connection:{}", offer.connection_id), fence)
        }
        None => Ok(()),
    }
}

fn record(
    unit: &mut Unit<'_>,
    connection: &Connection,
    offer: &Offer,
    event: &InboundEvent,
) -> Result<Judged> {
    let mut event = event.clone();
    loom_domain::decision::normalise(&mut event);
    let addresses = addresses_of(unit, connection)?;
    let mut best: Option<Judged> = None;
    let targets: Vec<Option<&Address>> =
        if addresses.is_empty() { vec![None] } else { addresses.iter().map(Some).collect() };
    for address in targets {
        let judged = judge::for_address(unit, connection, address, offer, &event)?;
        let is_stronger = best.as_ref().is_none_or(|b| strength(judged.decision) > strength(b.decision));
        if is_stronger {
            best = Some(judged);
        }
    }
    if let Some(cursor) = &event.cursor {
        put_cursor(unit, &offer.connection_id, cursor)?;
    }
    best.ok_or_else(|| Error::internal("an event was judged for no address"))
}

fn strength(decision: Decision) -> u8 {
    match decision {
        Decision::Queued => 4,
        Decision::Pending => 3,
        Decision::Fact => 2,
        Decision::Refused => 1,
        Decision::Duplicate => 0,
    }
}

/// Addresses an event is judged for. Archived and deleted ones only when there is no other, so that their
/// refusal has its reason.
fn addresses_of(unit: &mut Unit<'_>, connection: &Connection) -> Result<Vec<Address>> {
    let all: Vec<Address> =
        docs::select(unit.tx, "connection_id = ?1 ORDER BY seq", &params![connection.id.as_str()])?;
    let (live, gone): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|a| a.archived_at.is_none() && a.deleted_at.is_none());
    Ok(if live.is_empty() { gone.into_iter().rev().take(1).collect() } else { live })
}

fn put_cursor(unit: &mut Unit<'_>, connection: &ConnectionId, cursor: &str) -> Result<()> {
    let values: [Value; 3] = params![connection.as_str(), cursor, unit.now];
    unit.tx.execute(
        "INSERT INTO connection_cursors (connection_id, value, at) VALUES (?1, ?2, ?3) \
         ON CONFLICT (connection_id) DO UPDATE SET value = excluded.value, at = excluded.at",
        &values,
    )?;
    Ok(())
}
