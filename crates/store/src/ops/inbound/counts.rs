//! Counts that a judgement depends on, taken in the transaction that stores it.

use loom_domain::{
    Address, Connection, InboundEvent, Result,
    bot_loop::BotCounters,
    decision::{Counters, OPEN_PER_AGENT_MAX, OPEN_PER_CONVERSATION_MAX, SENDER_PER_HOUR_MAX},
    message::SenderKind,
    pending::PendingCounts,
};

use crate::{
    Unit, params,
    tx::{from_doc, to_doc},
};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

fn count(unit: &mut Unit<'_>, sql: &str, params: &[crate::Value]) -> Result<u32> {
    Ok(u32::try_from(unit.tx.number(sql, params)?).unwrap_or(u32::MAX))
}

/// Counts no further than the limit that the count is held against.
fn up_to(limit: u32, rows: &str) -> String {
    format!("SELECT COUNT(*) FROM (SELECT 1 FROM {rows} LIMIT {limit}) AS counted")
}

/// Takes every count for one event and Address.
pub(super) fn take(
    unit: &mut Unit<'_>,
    connection: &Connection,
    address: &Address,
    event: &InboundEvent,
) -> Result<Counters> {
    let sender = event.sender.as_ref().map_or("", |s| s.external_id.as_str());
    let conversation = event.conversation.conversation_id.as_str();
    Ok(Counters {
        pending: pending(unit, address, sender)?,
        sender_last_minute: since(unit, address, sender, MINUTE_MS)?,
        sender_last_hour: since(unit, address, sender, HOUR_MS)?,
        open_in_conversation: count(
            unit,
            &up_to(
                OPEN_PER_CONVERSATION_MAX,
                "inbox WHERE address_id = ?1 AND conversation_id = ?2 AND open = 1",
            ),
            &params![address.id.as_str(), conversation],
        )?,
        open_of_agent: count(
            unit,
            &up_to(OPEN_PER_AGENT_MAX, "inbox WHERE agent_id = ?1 AND open = 1"),
            &params![address.agent_id.as_str()],
        )?,
        bots: bots(unit, address, event)?,
        is_own_receipt: is_own_receipt(unit, connection, event)?,
    })
}

fn pending(unit: &mut Unit<'_>, address: &Address, sender: &str) -> Result<PendingCounts> {
    let base = "FROM inbox WHERE address_id = ?1 AND state = 'pending_access' AND open = 1";
    Ok(PendingCounts {
        of_sender: count(
            unit,
            &format!("SELECT COUNT(*) {base} AND sender_id = ?2"),
            &params![address.id.as_str(), sender],
        )?,
        senders: count(
            unit,
            &format!("SELECT COUNT(DISTINCT sender_id) {base} AND sender_id <> ?2"),
            &params![address.id.as_str(), sender],
        )?,
        of_address: count(unit, &format!("SELECT COUNT(*) {base}"), &params![address.id.as_str()])?,
    })
}

fn since(unit: &mut Unit<'_>, address: &Address, sender: &str, window_ms: i64) -> Result<u32> {
    count(
        unit,
        &up_to(SENDER_PER_HOUR_MAX, "events WHERE address_id = ?1 AND actor_id = ?2 AND received_at > ?3"),
        &params![address.id.as_str(), sender, unit.now.plus_ms(-window_ms)],
    )
}

/// Whether the message is one that we sent: its id is in the ledger of Receipts.
fn is_own_receipt(unit: &mut Unit<'_>, connection: &Connection, event: &InboundEvent) -> Result<bool> {
    let Some(message_id) = event.conversation.message_id.as_deref() else { return Ok(false) };
    let sql = "SELECT 1 FROM receipts WHERE connection_id = ?1 AND external_id = ?2 AND conversation_id = ?3";
    let values = params![connection.id.as_str(), message_id, event.conversation.conversation_id.as_str()];
    Ok(unit.tx.first(sql, &values)?.is_some())
}

/// Times of accepted bot messages, oldest first; the newest day only.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Budget {
    consecutive: u32,
    times: Vec<i64>,
}

const TIMES_MAX: usize = 256;

fn is_bot(event: &InboundEvent) -> bool {
    event.sender.as_ref().is_some_and(|s| matches!(s.kind, SenderKind::Bot | SenderKind::App))
}

fn thread_key(address: &Address, event: &InboundEvent) -> String {
    let conversation = &event.conversation;
    format!(
        "thread:{}:{}:{}",
        address.id,
        conversation.conversation_id,
        conversation.thread_id.as_deref().unwrap_or("")
    )
}

fn bot_key(address: &Address, event: &InboundEvent) -> String {
    format!("bot:{}:{}", address.id, event.sender.as_ref().map_or("", |s| s.external_id.as_str()))
}

fn conversation_key(address: &Address, event: &InboundEvent) -> String {
    format!("conversation:{}:{}", address.connection_id, event.conversation.conversation_id)
}

fn load(unit: &mut Unit<'_>, key: &str) -> Result<Budget> {
    let found = unit.tx.first("SELECT doc FROM bot_budgets WHERE key = ?1", &params![key])?;
    found.map_or_else(|| Ok(Budget::default()), |row| from_doc(row.text(0)))
}

fn bots(unit: &mut Unit<'_>, address: &Address, event: &InboundEvent) -> Result<BotCounters> {
    if !is_bot(event) {
        return Ok(BotCounters::default());
    }
    let now = unit.now.0;
    let within = |budget: &Budget, window_ms: i64| {
        u32::try_from(budget.times.iter().filter(|t| **t > now - window_ms).count()).unwrap_or(u32::MAX)
    };
    let of_bot = load(unit, &bot_key(address, event))?;
    let of_conversation = load(unit, &conversation_key(address, event))?;
    Ok(BotCounters {
        consecutive: load(unit, &thread_key(address, event))?.consecutive,
        bot_last_hour: within(&of_bot, HOUR_MS),
        bot_last_day: within(&of_bot, DAY_MS),
        conversation_last_hour: within(&of_conversation, HOUR_MS),
    })
}

/// Counts an accepted message: a human frees the thread, a bot spends the budgets.
pub(super) fn spend(unit: &mut Unit<'_>, address: &Address, event: &InboundEvent) -> Result<()> {
    let thread = thread_key(address, event);
    let mut of_thread = load(unit, &thread)?;
    if !is_bot(event) {
        if of_thread.consecutive == 0 {
            return Ok(());
        }
        of_thread.consecutive = 0;
        return store(unit, &thread, &of_thread);
    }
    of_thread.consecutive = of_thread.consecutive.saturating_add(1);
    store(unit, &thread, &of_thread)?;
    for key in [bot_key(address, event), conversation_key(address, event)] {
        let mut budget = load(unit, &key)?;
        let oldest = unit.now.0 - DAY_MS;
        budget.times.retain(|time| *time > oldest);
        budget.times.push(unit.now.0);
        let surplus = budget.times.len().saturating_sub(TIMES_MAX);
        budget.times.drain(..surplus);
        store(unit, &key, &budget)?;
    }
    Ok(())
}

fn store(unit: &mut Unit<'_>, key: &str, budget: &Budget) -> Result<()> {
    unit.tx.execute(
        "INSERT INTO bot_budgets (key, at, doc) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET at = excluded.at, doc = excluded.doc",
        &params![key, unit.now, to_doc(budget)?],
    )?;
    Ok(())
}
