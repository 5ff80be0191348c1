//! Small questions of the hub about work in progress.

use loom_domain::{
    Address, AddressId, AgentId, Code, Error, EventId, HandlingAttempt, InboxId, OutboxItem, Result,
    Timestamp,
};

use crate::{
    Store, docs, params,
    records::{StoredEvent, StoredItem},
};

/// Rows of one question about what waits too long.
const WAITING_MAX: u32 = 50;
/// Ids named in the digest of pending access.
const PENDING_NAMED_MAX: u32 = 10;

/// The queue of an Agent whose oldest item has waited long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldQueue {
    /// Agent.
    pub agent: AgentId,
    /// Queued items.
    pub items: u64,
    /// Since when the oldest could start.
    pub oldest: Timestamp,
}

/// Items that wait for an approval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingAccess {
    /// How many.
    pub items: u64,
    /// The first of them.
    pub first: Vec<InboxId>,
}

impl Store {
    /// Agents with a queued item that could start before the given time.
    pub async fn old_queues(&self, before: Timestamp) -> Result<Vec<OldQueue>> {
        self.read(move |tx| {
            let since = "CASE WHEN available_at > updated_at THEN available_at ELSE updated_at END";
            let sql = format!(
                "SELECT agent_id, COUNT(*), MIN({since}) FROM inbox WHERE open = 1 AND state = 'queued' \
                 GROUP BY agent_id HAVING MIN({since}) <= ?1 LIMIT ?2"
            );
            let rows = tx.query(&sql, &params![before, WAITING_MAX])?;
            rows.iter()
                .map(|row| {
                    let agent = row.text(0).parse()?;
                    Ok(OldQueue { agent, items: row.uint(1), oldest: Timestamp(row.int(2)) })
                })
                .collect()
        })
        .await
    }

    /// Replies made before the given time whose items still wait for their delivery.
    pub async fn replies_waiting(&self, before: Timestamp) -> Result<Vec<OutboxItem>> {
        self.read(move |tx| {
            docs::select(
                tx,
                "open = 1 AND created_at <= ?1 AND inbox_item_id IN \
                 (SELECT id FROM inbox WHERE open = 1 AND state = 'awaiting_delivery') LIMIT ?2",
                &params![before, WAITING_MAX],
            )
        })
        .await
    }

    /// Sends of which it is not known since before the given time whether they arrived.
    pub async fn unknown_sends(&self, before: Timestamp) -> Result<Vec<OutboxItem>> {
        self.read(move |tx| {
            docs::select(
                tx,
                "state = 'unknown' AND open = 1 AND updated_at <= ?1 ORDER BY seq LIMIT ?2",
                &params![before, WAITING_MAX],
            )
        })
        .await
    }

    /// Items that wait for an approval: their number and the first ids.
    pub async fn pending_access(&self) -> Result<PendingAccess> {
        self.read(|tx| {
            let sql = "SELECT id, COUNT(*) OVER () FROM inbox WHERE state = 'pending_access' AND open = 1 \
                       ORDER BY seq LIMIT ?1";
            let rows = tx.query(sql, &params![PENDING_NAMED_MAX])?;
            let first = rows.iter().map(|row| row.text(0).parse()).collect::<Result<_>>()?;
            Ok(PendingAccess { items: rows.first().map_or(0, |row| row.uint(1)), first })
        })
        .await
    }

    /// Turns and Parts in flight.
    pub async fn in_flight(&self) -> Result<u64> {
        self.read(|tx| {
            let turns = tx.number("SELECT COUNT(*) FROM turns WHERE open = 1", &[])?;
            let parts = tx.number("SELECT COUNT(*) FROM parts WHERE open = 1 AND state = 'sending'", &[])?;
            Ok(u64::try_from(turns + parts).unwrap_or(0))
        })
        .await
    }

    /// How long the oldest ready item of an Agent without a Turn has waited, milliseconds; 0 when there is none.
    pub async fn oldest_ready_ms(&self, now: Timestamp) -> Result<i64> {
        self.read(move |tx| {
            let sql = "SELECT MIN(updated_at) FROM inbox i WHERE open = 1 AND state = 'queued' AND available_at <= ?1 \
                       AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.agent_id = i.agent_id AND t.open = 1) \
                       AND EXISTS (SELECT 1 FROM agents a WHERE a.id = i.agent_id AND a.archived = 0 AND a.doc NOT LIKE '%\"paused\":true%')";
            let oldest = tx.number(sql, &params![now])?;
            Ok(if oldest > 0 { now.since_ms(Timestamp(oldest)) } else { 0 })
        })
        .await
    }

    /// The final answer that was kept when a reply was refused or failed.
    pub async fn preserved_answer(&self, id: InboxId) -> Result<String> {
        self.read(move |tx| {
            let newest: Option<HandlingAttempt> =
                docs::find(tx, "inbox_item_id = ?1 ORDER BY seq DESC", &params![id.as_str()])?;
            newest
                .and_then(|attempt| attempt.answer)
                .ok_or_else(|| Error::new(Code::NotFound, format!("no answer of {id} is kept")))
        })
        .await
    }

    /// The Address of an item; absent for internal items and for items that do not exist.
    pub async fn address_of_item(&self, id: InboxId) -> Result<Option<Address>> {
        self.read(move |tx| {
            let stored: Option<StoredItem> = docs::get(tx, id.as_str())?;
            match stored.and_then(|s| s.item.address_id) {
                Some(address) => docs::get(tx, address.as_str()),
                None => Ok(None),
            }
        })
        .await
    }

    /// The first event of a conversation since a time whose text holds these words, and how it was judged.
    pub async fn event_with_text(
        &self,
        address: AddressId,
        conversation: String,
        words: String,
        since: Timestamp,
    ) -> Result<Option<(EventId, Vec<String>)>> {
        self.read(move |tx| {
            let found: Vec<StoredEvent> = docs::select(
                tx,
                "address_id = ?1 AND conversation_id = ?2 AND received_at >= ?3 ORDER BY seq LIMIT 200",
                &params![address.as_str(), conversation.as_str(), since],
            )?;
            let hit = found.into_iter().find(|stored| stored.event.inbound.content.text.contains(&words));
            Ok(hit.map(|stored| {
                let line = format!(
                    "step {}: {} ({})",
                    stored.event.step, stored.event.decision, stored.event.reason
                );
                (stored.event.id, vec![line])
            }))
        })
        .await
    }
}
