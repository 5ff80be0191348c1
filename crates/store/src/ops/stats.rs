//! Counts for status, health and metrics. Each is over open rows or counters, so history costs nothing.

use loom_domain::{ConnectionId, Result, Timestamp};

use crate::{Store, Tx, params};

/// A name and how many there are of it.
pub type Counts = Vec<(String, u64)>;

/// Counts of the whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Open Inbox items by state.
    pub inbox: Counts,
    /// Open Outbox items by state.
    pub outbox: Counts,
    /// Failed and expired Outbox items that are kept.
    pub dead: u64,
    /// Creation of the oldest queued item.
    pub oldest_queued: Option<Timestamp>,
    /// Creation of the oldest open Outbox item.
    pub oldest_outbox: Option<Timestamp>,
    /// Agents that are not archived.
    pub agents: u64,
    /// Of these, with a running Turn.
    pub running: u64,
    /// Of these, paused.
    pub paused: u64,
    /// Notices not yet acknowledged.
    pub notices: u64,
    /// Judged Events by reason, since the store was made.
    pub reasons: Counts,
}

/// Counts of one Connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Open Parts.
    pub pending: u64,
    /// Parts of unknown fate.
    pub unknown: u64,
    /// Creation of the oldest queued item of its Addresses.
    pub oldest_queued: Option<Timestamp>,
    /// Creation of the oldest open Outbox item.
    pub oldest_outbox: Option<Timestamp>,
    /// Newest Event.
    pub last_event: Option<Timestamp>,
    /// Newest accepted Event.
    pub last_accepted: Option<Timestamp>,
    /// Newest delivery.
    pub last_sent: Option<Timestamp>,
}

impl Store {
    /// Counts of the whole store.
    pub async fn stats(&self) -> Result<Stats> {
        self.read(|tx| {
            Ok(Stats {
                inbox: counts(
                    tx,
                    "SELECT state, COUNT(*) FROM inbox WHERE open = 1 GROUP BY state ORDER BY state",
                )?,
                outbox: counts(
                    tx,
                    "SELECT state, COUNT(*) FROM outbox WHERE open = 1 GROUP BY state ORDER BY state",
                )?,
                dead: count(tx, "SELECT COUNT(*) FROM outbox WHERE state IN ('failed', 'expired')", "")?,
                oldest_queued: time(
                    tx,
                    "SELECT MIN(created_at) FROM inbox WHERE state = 'queued' AND open = 1",
                    "",
                )?,
                oldest_outbox: time(tx, "SELECT MIN(created_at) FROM outbox WHERE open = 1", "")?,
                agents: count(tx, "SELECT COUNT(*) FROM agents WHERE archived = 0", "")?,
                paused: count(
                    tx,
                    "SELECT COUNT(*) FROM agents WHERE archived = 0 AND doc LIKE '%\"paused\":true%'",
                    "",
                )?,
                running: count(tx, "SELECT COUNT(*) FROM turns WHERE open = 1", "")?,
                notices: count(tx, "SELECT COUNT(*) FROM notices WHERE acked = 0", "")?,
                reasons: counts(tx, "SELECT reason, total FROM reason_counts ORDER BY reason")?,
            })
        })
        .await
    }

    /// Counts of one Connection.
    pub async fn connection_stats(&self, id: ConnectionId) -> Result<ConnectionStats> {
        self.read(move |tx| {
            let id = id.as_str();
            Ok(ConnectionStats {
                pending: count(tx, "SELECT COUNT(*) FROM parts WHERE connection_id = ?1 AND open = 1", id)?,
                unknown: count(
                    tx,
                    "SELECT COUNT(*) FROM parts WHERE connection_id = ?1 AND open = 1 AND state = 'unknown'",
                    id,
                )?,
                oldest_queued: time(
                    tx,
                    "SELECT MIN(created_at) FROM inbox WHERE state = 'queued' AND open = 1 AND address_id IN (SELECT id FROM addresses WHERE connection_id = ?1)",
                    id,
                )?,
                oldest_outbox: time(
                    tx,
                    "SELECT MIN(created_at) FROM outbox WHERE open = 1 AND connection_id = ?1",
                    id,
                )?,
                last_event: newest(tx, id, "")?,
                last_accepted: newest(tx, id, "AND decision = 'queued'")?,
                last_sent: time(
                    tx,
                    "SELECT updated_at FROM outbox WHERE state = 'sent' AND connection_id = ?1 ORDER BY seq DESC LIMIT 1",
                    id,
                )?,
            })
        })
        .await
    }
}

/// Time of the newest Event of a Connection that matches.
pub(crate) fn newest(tx: &mut dyn Tx, connection: &str, condition: &str) -> Result<Option<Timestamp>> {
    let sql = format!(
        "SELECT received_at FROM events WHERE connection_id = ?1 {condition} ORDER BY seq DESC LIMIT 1"
    );
    time(tx, &sql, connection)
}

fn values(id: &str) -> Vec<crate::Value> {
    if id.is_empty() { Vec::new() } else { params![id].to_vec() }
}

fn count(tx: &mut dyn Tx, sql: &str, id: &str) -> Result<u64> {
    Ok(u64::try_from(tx.number(sql, &values(id))?).unwrap_or(0))
}

fn time(tx: &mut dyn Tx, sql: &str, id: &str) -> Result<Option<Timestamp>> {
    let at = tx.number(sql, &values(id))?;
    Ok((at > 0).then_some(Timestamp(at)))
}

fn counts(tx: &mut dyn Tx, sql: &str) -> Result<Counts> {
    Ok(tx.query(sql, &[])?.iter().map(|row| (row.text(0).to_owned(), row.uint(1))).collect())
}
