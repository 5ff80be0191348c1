//! The dedupe keys: which event or message is known, and which record knows it.

use loom_domain::{Address, InboxId, MessageId, Result, decision::Known, dedupe, reason::EventReason};

use super::Subject;
use crate::{Unit, docs, params, records::StoredEvent};

/// What the ledger knows of the event, and the record that knows it.
pub(super) fn known(unit: &mut Unit<'_>, subject: &Subject<'_>) -> Result<(Known, Option<StoredEvent>)> {
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

pub(super) fn item_id_of(
    unit: &mut Unit<'_>,
    message: &MessageId,
    address: Option<&Address>,
) -> Result<Option<InboxId>> {
    let values = params![message.as_str(), address.map_or("", |a| a.id.as_str())];
    let row = unit.tx.first("SELECT id FROM inbox WHERE message_id = ?1 AND address_id = ?2", &values)?;
    row.map(|row| row.text(0).parse()).transpose()
}

pub(super) fn put_event(unit: &mut Unit<'_>, subject: &Subject<'_>, record: &str) -> Result<()> {
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

pub(super) fn put_message(unit: &mut Unit<'_>, subject: &Subject<'_>, record: &str) -> Result<()> {
    let Some(key) = dedupe::message_key(subject.event) else { return Ok(()) };
    unit.tx.execute(
        "INSERT INTO message_keys (address_id, message_key, event_id, at) VALUES (?1, ?2, ?3, ?4)",
        &params![subject.address.map_or("", |a| a.id.as_str()), key, record, unit.now],
    )?;
    Ok(())
}

pub(super) fn repoint_message(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    earlier: &StoredEvent,
    record: &str,
) -> Result<()> {
    let Some(key) = earlier.event.message_key.clone() else { return put_message(unit, subject, record) };
    unit.tx.execute(
        "UPDATE message_keys SET event_id = ?3 WHERE address_id = ?1 AND message_key = ?2",
        &params![subject.address.map_or("", |a| a.id.as_str()), key, record],
    )?;
    Ok(())
}
