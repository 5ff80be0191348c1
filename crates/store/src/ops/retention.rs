//! Removes what is older than its retention, a bounded number of rows in each commit. Open work is never removed.

use loom_domain::{Result, Timestamp};

use crate::{Act, Store, Tx, Value, params};

/// Rows removed in one commit.
const ROWS_MAX: i64 = 500;
/// Changes kept for the event feed.
const CHANGES_KEPT: i64 = 10_000;
const DAY_MS: i64 = 86_400_000;
/// Event keys are kept at least this long, milliseconds.
const EVENT_KEYS_MIN_MS: i64 = 2 * DAY_MS;
/// Idempotency keys are kept at least this long, milliseconds.
const IDEMPOTENCY_MIN_MS: i64 = 30 * DAY_MS;

/// How long rows are kept, days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Closed Inbox and Outbox items and their Messages.
    pub items_days: u32,
    /// Raw payloads.
    pub raw_days: u32,
    /// Refused Events.
    pub refusals_days: u32,
    /// Texts of refused Events.
    pub refusal_bodies_days: u32,
    /// Keys of Events; never under two days.
    pub event_keys_days: u32,
    /// Keys of Messages.
    pub message_keys_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention {
            items_days: 90,
            raw_days: 14,
            refusals_days: 30,
            refusal_bodies_days: 7,
            event_keys_days: 14,
            message_keys_days: 180,
        }
    }
}

/// Rows removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Inbox items.
    pub inbox: u64,
    /// Outbox items.
    pub outbox: u64,
    /// Messages.
    pub messages: u64,
    /// Events.
    pub events: u64,
    /// Raw payloads and texts.
    pub raw: u64,
    /// Dedupe and idempotency keys.
    pub keys: u64,
    /// Changes of the event feed.
    pub changes: u64,
}

impl Removed {
    /// All rows together; 0 means that nothing is left to remove.
    pub const fn total(&self) -> u64 {
        self.inbox + self.outbox + self.messages + self.events + self.raw + self.keys + self.changes
    }
}

impl Store {
    /// Removes a bounded number of rows past their retention. Called again until the total is 0.
    pub async fn apply_retention(&self, act: Act, retention: Retention) -> Result<Removed> {
        let mut removed = Removed::default();
        for step in STEPS {
            let part = self.write(act.clone(), move |unit| step(unit.tx, unit.now, &retention)).await?;
            removed.inbox += part.inbox;
            removed.outbox += part.outbox;
            removed.messages += part.messages;
            removed.events += part.events;
            removed.raw += part.raw;
            removed.keys += part.keys;
            removed.changes += part.changes;
        }
        Ok(removed)
    }
}

type Step = fn(&mut dyn Tx, Timestamp, &Retention) -> Result<Removed>;

const STEPS: &[Step] = &[outbox, inbox, messages, events, bodies, raw, keys, changes];

fn before(now: Timestamp, days: u32) -> Timestamp {
    now.plus_ms(-i64::from(days).saturating_mul(DAY_MS))
}

/// Removes rows of a table by key, oldest first.
fn remove(tx: &mut dyn Tx, table: &str, key: &str, condition: &str, mut values: Vec<Value>) -> Result<u64> {
    values.push(ROWS_MAX.into());
    let limit = values.len();
    tx.execute(
        &format!(
            "DELETE FROM {table} WHERE ({condition}) AND {key} IN (SELECT {key} FROM {table} WHERE {condition} LIMIT ?{limit})"
        ),
        &values,
    )
}

fn ids(tx: &mut dyn Tx, sql: &str, at: Timestamp) -> Result<Vec<String>> {
    Ok(tx.query(sql, &params![at, ROWS_MAX])?.iter().map(|row| row.text(0).to_owned()).collect())
}

fn outbox(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let sql = "SELECT id FROM outbox WHERE open = 0 AND updated_at < ?1 \
         AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.id = outbox.inbox_item_id AND i.open = 1) ORDER BY updated_at LIMIT ?2";
    let old = ids(tx, sql, before(now, retention.items_days.max(1)))?;
    for id in &old {
        for (table, column) in [
            ("send_attempts", "outbox_id"),
            ("receipts", "outbox_id"),
            ("parts", "outbox_id"),
            ("artifact_refs", "owner_id"),
            ("outbox", "id"),
        ] {
            tx.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), &params![id.as_str()])?;
        }
    }
    Ok(Removed { outbox: u64::try_from(old.len()).unwrap_or(0), ..Removed::default() })
}

fn inbox(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let sql = "SELECT id FROM inbox WHERE open = 0 AND updated_at < ?1 \
         AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.inbox_item_id = inbox.id) \
         AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.item_id = inbox.id AND t.open = 1) ORDER BY updated_at LIMIT ?2";
    let old = ids(tx, sql, before(now, retention.items_days.max(1)))?;
    for id in &old {
        tx.execute(
            "DELETE FROM turns WHERE id IN (SELECT turn_id FROM attempts WHERE inbox_item_id = ?1)",
            &params![id.as_str()],
        )?;
        tx.execute("DELETE FROM attempts WHERE inbox_item_id = ?1", &params![id.as_str()])?;
        tx.execute("DELETE FROM inbox WHERE id = ?1", &params![id.as_str()])?;
    }
    Ok(Removed { inbox: u64::try_from(old.len()).unwrap_or(0), ..Removed::default() })
}

fn messages(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let sql = "SELECT id FROM messages WHERE received_at < ?1 \
         AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.message_id = messages.id) ORDER BY received_at LIMIT ?2";
    let old = ids(tx, sql, before(now, retention.items_days.max(1)))?;
    for id in &old {
        tx.execute("DELETE FROM artifact_refs WHERE owner_id = ?1", &params![id.as_str()])?;
        tx.execute("DELETE FROM messages WHERE id = ?1", &params![id.as_str()])?;
    }
    Ok(Removed { messages: u64::try_from(old.len()).unwrap_or(0), ..Removed::default() })
}

fn events(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let refused = before(now, retention.refusals_days.max(1));
    let others = before(now, retention.items_days.max(1));
    let condition =
        "(received_at < ?1 AND decision = 'refused') OR (received_at < ?2 AND decision <> 'refused')";
    let events = remove(tx, "events", "id", condition, params![refused, others].to_vec())?;
    Ok(Removed { events, ..Removed::default() })
}

/// Texts of refusals that were kept for a time.
fn bodies(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let old: Vec<crate::records::StoredEvent> = crate::docs::select(
        tx,
        "decision = 'refused' AND received_at < ?1 AND id IN (SELECT event_id FROM raw_events) ORDER BY received_at LIMIT ?2",
        &params![before(now, retention.refusal_bodies_days), ROWS_MAX],
    )?;
    let count = old.len();
    for mut stored in old {
        stored.event.inbound.content.text.clear();
        stored.event.inbound.content.attachments.clear();
        crate::docs::update(tx, &stored)?;
        tx.execute("DELETE FROM raw_events WHERE event_id = ?1", &params![stored.event.id.as_str()])?;
    }
    Ok(Removed { raw: u64::try_from(count).unwrap_or(0), ..Removed::default() })
}

fn raw(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let raw =
        remove(tx, "raw_events", "event_id", "at < ?1", params![before(now, retention.raw_days)].to_vec())?;
    Ok(Removed { raw, ..Removed::default() })
}

fn keys(tx: &mut dyn Tx, now: Timestamp, retention: &Retention) -> Result<Removed> {
    let at = before(now, retention.event_keys_days).min(now.plus_ms(-EVENT_KEYS_MIN_MS));
    let events = remove(tx, "event_keys", "event_key", "at < ?1", params![at].to_vec())?;
    let at = before(now, retention.message_keys_days.max(retention.items_days));
    let messages = remove(tx, "message_keys", "message_key", "at < ?1", params![at].to_vec())?;
    let sends = remove(
        tx,
        "idempotency",
        "scope",
        "at < ?1 AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = idempotency.outbox_id)",
        params![now.plus_ms(-IDEMPOTENCY_MIN_MS)].to_vec(),
    )?;
    // A mark older than every item says nothing that a missing one does not.
    let oldest = "served < (SELECT MIN(seq) FROM inbox)";
    let marks = remove(tx, "queue_marks", "served", oldest, Vec::new())?;
    Ok(Removed { keys: events + messages + sends + marks, ..Removed::default() })
}

fn changes(tx: &mut dyn Tx, _: Timestamp, _: &Retention) -> Result<Removed> {
    let edge = "SELECT seq FROM changes ORDER BY seq DESC LIMIT 1 OFFSET ?1";
    let edge = tx.number(edge, &params![CHANGES_KEPT])?;
    let changes = remove(tx, "changes", "seq", "seq <= ?1", params![edge].to_vec())?;
    Ok(Removed { changes, ..Removed::default() })
}
