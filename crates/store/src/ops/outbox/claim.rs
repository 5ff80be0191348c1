//! Takes Parts for sending and for settlement.

use loom_domain::{
    Address, AttemptId, Connection, ConnectionId, Membership, OutboxItem, Part, Result, SendAttempt,
    Timestamp,
    outbox::{
        ClaimCheck, ClaimFacts, OutboxReason, PartEvent, PartState, SendOutcomeKind, State, Step, check_claim,
    },
};

use super::parts;
use crate::{Tx, Unit, docs, params, records::StoredPart};

/// A Part to send or to ask about, with its open or newest Attempt.
#[derive(Debug, Clone)]
pub struct ClaimedPart {
    /// Part.
    pub part: Part,
    /// Its item.
    pub item: OutboxItem,
    /// Attempt.
    pub attempt: SendAttempt,
}

/// Parts looked at in one claim.
const LOOKED_AT_MAX: u32 = 256;

pub(super) fn claim(
    unit: &mut Unit<'_>,
    connection_id: &ConnectionId,
    limit: u32,
    busy: &[String],
    fence: u64,
) -> Result<Vec<ClaimedPart>> {
    crate::ops::leases::check(unit.tx, &format!("connection:{connection_id}"), fence)?;
    let connection: Connection = docs::require(unit.tx, connection_id.as_str())?;
    let mut taken: Vec<String> = busy.to_vec();
    taken.extend(in_flight(unit, connection_id)?);
    taken.extend(paused(unit, connection_id)?);
    let mut claimed = Vec::new();
    for due in due(unit, connection_id)? {
        if claimed.len() >= usize::try_from(limit).unwrap_or(0) {
            break;
        }
        if taken.contains(&due.conversation_id) {
            continue;
        }
        let mut stored: StoredPart = docs::require(unit.tx, &due.id)?;
        let mut item: OutboxItem = docs::require(unit.tx, stored.part.outbox_id.as_str())?;
        if let Some(part) = take(unit, &connection, &mut item, &mut stored, fence)? {
            taken.push(stored.conversation_id.clone());
            claimed.push(part);
        }
    }
    crate::fail::point("part.claim.before_commit")?;
    Ok(claimed)
}

/// A Part whose time has come.
struct Due {
    seq: u64,
    id: String,
    conversation_id: String,
}

/// The oldest Parts whose time has come, in order; read from the index alone.
fn due(unit: &mut Unit<'_>, connection: &ConnectionId) -> Result<Vec<Due>> {
    let columns = "SELECT seq, id, conversation_id FROM parts WHERE connection_id = ?1 AND open = 1";
    let values = params![connection.as_str(), LOOKED_AT_MAX];
    let mut rows =
        unit.tx.query(&format!("{columns} AND state = 'pending' ORDER BY seq LIMIT ?2"), &values)?;
    let values = params![connection.as_str(), LOOKED_AT_MAX, unit.now];
    rows.extend(unit.tx.query(
        &format!("{columns} AND state = 'retry_wait' AND until <= ?3 ORDER BY seq LIMIT ?2"),
        &values,
    )?);
    let read = |row: &crate::tx::Row| Due {
        seq: row.uint(0),
        id: row.text(1).to_owned(),
        conversation_id: row.text(2).to_owned(),
    };
    let mut due: Vec<Due> = rows.iter().map(read).collect();
    due.sort_by_key(|one| one.seq);
    due.truncate(usize::try_from(LOOKED_AT_MAX).unwrap_or(usize::MAX));
    Ok(due)
}

fn in_flight(unit: &mut Unit<'_>, connection: &ConnectionId) -> Result<Vec<String>> {
    let rows = unit.tx.query(
        "SELECT DISTINCT conversation_id FROM parts WHERE connection_id = ?1 AND open = 1 AND state IN ('sending', 'unknown')",
        &params![connection.as_str()],
    )?;
    Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
}

fn paused(unit: &mut Unit<'_>, connection: &ConnectionId) -> Result<Vec<String>> {
    let rows = unit.tx.query(
        "SELECT scope FROM pauses WHERE connection_id = ?1 AND until > ?2",
        &params![connection.as_str(), unit.now],
    )?;
    Ok(rows.iter().filter_map(|row| row.text(0).strip_prefix("conversation:").map(str::to_owned)).collect())
}

fn take(
    unit: &mut Unit<'_>,
    connection: &Connection,
    item: &mut OutboxItem,
    stored: &mut StoredPart,
    fence: u64,
) -> Result<Option<ClaimedPart>> {
    if stored.part.state == PartState::RetryWait {
        let context = parts::context(unit, stored, None, None);
        parts::apply(unit, item, stored, None, &PartEvent::Due, &context)?;
        if stored.part.state != PartState::Pending {
            parts::refold(unit, item)?;
            return Ok(None);
        }
    }
    let check = check(unit.tx, connection, item, stored)?;
    if check == ClaimCheck::NotYet {
        return Ok(None);
    }
    let context = parts::context(unit, stored, None, None);
    let before = (stored.part.state, stored.part.blocked_by);
    parts::apply(unit, item, stored, None, &PartEvent::Claim(check), &context)?;
    if stored.part.state != PartState::Sending {
        if before != (stored.part.state, stored.part.blocked_by) {
            parts::refold(unit, item)?;
        }
        return Ok(None);
    }
    stored.part.fence = fence.max(stored.part.fence + 1);
    stored.part.lease_until = Some(unit.now.plus_ms(parts::LEASE_MS));
    docs::update(unit.tx, stored)?;
    let attempt = SendAttempt {
        id: AttemptId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        part_id: stored.part.id.clone(),
        outbox_id: item.id.clone(),
        fence: stored.part.fence,
        step: Step::Prepare,
        provider_key: None,
        outcome: SendOutcomeKind::Open,
        started_at: unit.now,
        publish_at: None,
        ended_at: None,
        error: None,
    };
    docs::insert(unit.tx, &attempt)?;
    parts::refold(unit, item)?;
    Ok(Some(ClaimedPart { part: stored.part.clone(), item: item.clone(), attempt }))
}

fn check(
    tx: &mut dyn Tx,
    connection: &Connection,
    item: &OutboxItem,
    stored: &StoredPart,
) -> Result<ClaimCheck> {
    let address: Address = docs::require(tx, item.address_id.as_str())?;
    let membership: Option<Membership> = match &item.membership_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let unsent = "SELECT 1 FROM parts WHERE outbox_id = ?1 AND n < ?2 AND state <> 'sent'";
    let earlier_sent = tx.first(unsent, &params![item.id.as_str(), stored.part.n])?.is_none();
    let needs_files = stored.part.kind == loom_domain::outbox::PartKind::File;
    Ok(check_claim(&ClaimFacts {
        connection,
        address: &address,
        membership: membership.as_ref(),
        agent: &item.agent_id,
        is_reply: item.inbox_item_id.is_some(),
        earlier_sent,
        held: item.state == State::Held,
        released: item.state_reason != Some(OutboxReason::ReleaseRequired) || item.state != State::Held,
        capable: !needs_files || connection.capabilities.contains(&loom_domain::Capability::AttachmentsOut),
    }))
}

/// Unknown Parts whose settlement is due.
pub(super) fn unknown(
    tx: &mut dyn Tx,
    connection: &ConnectionId,
    now: Timestamp,
) -> Result<Vec<ClaimedPart>> {
    let due: Vec<StoredPart> = docs::select(
        tx,
        "connection_id = ?1 AND open = 1 AND state = 'unknown' AND until > 0 AND until <= ?2 ORDER BY seq LIMIT 64",
        &params![connection.as_str(), now],
    )?;
    let mut out = Vec::new();
    for stored in due {
        let item: OutboxItem = docs::require(tx, stored.part.outbox_id.as_str())?;
        let newest = docs::find(tx, "part_id = ?1 ORDER BY seq DESC", &params![stored.part.id.as_str()])?;
        if let Some(attempt) = newest {
            out.push(ClaimedPart { part: stored.part, item, attempt });
        }
    }
    Ok(out)
}
