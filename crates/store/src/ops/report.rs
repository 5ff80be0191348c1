//! The facts of a window for reports. No body of a message is read.

use std::collections::HashMap;

use loom_domain::{Agent, Connection, Result, Timestamp, Turn};
use loom_report::{Apply, ConnectionFact, Delivery, Facts, Item, Observed, Refusal, TurnFact};
use serde::Deserialize;
use serde_json::Value;

use crate::{Row, Store, Tx, docs, params};

/// Records of one source; beyond it the source is told as partial.
const RECORDS_MAX: u32 = 100_000;
const CUT: &str = "the window holds more records than are read";
/// Connections do not record their states, only what they brought.
const LIVE: &str = "live states are not part of a window";

impl Store {
    /// What happened from `start` and before `end`, as far as the store records it.
    pub async fn report_facts(&self, start: Timestamp, end: Timestamp) -> Result<Facts> {
        self.read(move |tx| {
            let span = Span { start, end };
            Ok(Facts {
                connections: Observed::partial(connections(tx, &span)?, LIVE),
                deliveries: observed(deliveries(tx, &span)?),
                items: observed(items(tx, &span)?),
                refusals: observed(refusals(tx, &span)?),
                turns: observed(turns(tx, &span)?),
                applies: Observed::complete(applies(tx, &span)?),
                ..Facts::default()
            })
        })
        .await
    }
}

struct Span {
    start: Timestamp,
    end: Timestamp,
}

fn observed<T>(records: Vec<T>) -> Observed<T> {
    let full = records.len() >= usize::try_from(RECORDS_MAX).unwrap_or(usize::MAX);
    if full { Observed::partial(records, CUT) } else { Observed::complete(records) }
}

fn time(row: &Row, column: usize) -> Option<Timestamp> {
    Some(row.int(column)).filter(|at| *at > 0).map(Timestamp)
}

fn connections(tx: &mut dyn Tx, span: &Span) -> Result<Vec<ConnectionFact>> {
    let all: Vec<Connection> = docs::select(tx, "archived = 0 ORDER BY seq", &[])?;
    let of_id = |rows: Vec<Row>| -> HashMap<String, Row> {
        rows.into_iter().map(|row| (row.text(0).to_owned(), row)).collect()
    };
    let events = of_id(tx.query(
        "SELECT connection_id, COUNT(*), CAST(SUM(CASE WHEN decision = 'refused' THEN 1 ELSE 0 END) AS BIGINT), \
         MAX(received_at) FROM events WHERE received_at >= ?1 AND received_at < ?2 GROUP BY connection_id",
        &params![span.start, span.end],
    )?);
    let sent = of_id(tx.query(
        "SELECT connection_id, MAX(at) FROM receipts WHERE at >= ?1 AND at < ?2 GROUP BY connection_id",
        &params![span.start, span.end],
    )?);
    let fact = |connection: Connection| {
        let (events, sent) = (events.get(connection.id.as_str()), sent.get(connection.id.as_str()));
        ConnectionFact {
            provider: connection.provider,
            account: connection.account_ref,
            enabled: connection.enabled,
            events: events.map_or(0, |row| row.uint(1)),
            refused: events.map_or(0, |row| row.uint(2)),
            last_event_at: events.and_then(|row| time(row, 3)),
            last_sent_at: sent.and_then(|row| time(row, 1)),
        }
    };
    Ok(all.into_iter().map(fact).collect())
}

/// What is read of a Part that did not arrive.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fault {
    last_error: Option<FaultCode>,
}

#[derive(Deserialize)]
struct FaultCode {
    code: String,
}

fn deliveries(tx: &mut dyn Tx, span: &Span) -> Result<Vec<Delivery>> {
    let rows = tx.query(
        "SELECT COALESCE(c.provider, ''), COALESCE(a.name_key, ''), p.state, COALESCE(r.at, o.updated_at), \
         o.created_at, r.at, CASE WHEN p.state = 'sent' THEN '' ELSE p.doc END \
         FROM parts p JOIN outbox o ON o.id = p.outbox_id \
         LEFT JOIN (SELECT part_id, MIN(at) AS at FROM receipts GROUP BY part_id) r ON r.part_id = p.id \
         LEFT JOIN connections c ON c.id = p.connection_id LEFT JOIN agents a ON a.id = o.agent_id \
         WHERE p.state NOT IN ('pending', 'sending', 'retry_wait') \
         AND COALESCE(r.at, o.updated_at) >= ?1 AND COALESCE(r.at, o.updated_at) < ?2 ORDER BY 4, p.id LIMIT ?3",
        &params![span.start, span.end, RECORDS_MAX],
    )?;
    let delivery = |row: &Row| {
        let latency = time(row, 5).map(|at| at.since_ms(Timestamp(row.int(4))));
        let fault = serde_json::from_str::<Fault>(row.text(6)).ok();
        Delivery {
            provider: row.text(0).to_owned(),
            agent: row.text(1).to_owned(),
            state: row.text(2).to_owned(),
            at: Timestamp(row.int(3)),
            latency_ms: latency.and_then(|ms| u64::try_from(ms).ok()),
            code: fault.and_then(|fault| fault.last_error).map(|error| error.code),
        }
    };
    Ok(rows.iter().map(delivery).collect())
}

fn items(tx: &mut dyn Tx, span: &Span) -> Result<Vec<Item>> {
    let rows = tx.query(
        "SELECT COALESCE(a.name_key, ''), i.state, i.created_at, CASE WHEN i.open = 1 THEN 0 ELSE i.updated_at END \
         FROM inbox i LEFT JOIN agents a ON a.id = i.agent_id \
         WHERE i.created_at < ?2 AND (i.open = 1 OR i.updated_at >= ?1) ORDER BY i.created_at, i.id LIMIT ?3",
        &params![span.start, span.end, RECORDS_MAX],
    )?;
    let item = |row: &Row| Item {
        agent: row.text(0).to_owned(),
        state: row.text(1).to_owned(),
        created_at: Timestamp(row.int(2)),
        closed_at: time(row, 3),
    };
    Ok(rows.iter().map(item).collect())
}

fn refusals(tx: &mut dyn Tx, span: &Span) -> Result<Vec<Refusal>> {
    let rows = tx.query(
        "SELECT reason, received_at FROM events WHERE decision = 'refused' AND received_at >= ?1 AND received_at < ?2 \
         ORDER BY received_at, id LIMIT ?3",
        &params![span.start, span.end, RECORDS_MAX],
    )?;
    let refusal = |row: &Row| Refusal { reason: row.text(0).to_owned(), at: Timestamp(row.int(1)) };
    Ok(rows.iter().map(refusal).collect())
}

fn turns(tx: &mut dyn Tx, span: &Span) -> Result<Vec<TurnFact>> {
    let agents: Vec<Agent> = docs::select(tx, "1 = 1", &[])?;
    let agents: HashMap<&str, &Agent> = agents.iter().map(|agent| (agent.id.as_str(), agent)).collect();
    let turns: Vec<Turn> = docs::select(
        tx,
        "created_at >= ?1 AND created_at < ?2 ORDER BY created_at, id LIMIT ?3",
        &params![span.start, span.end, RECORDS_MAX],
    )?;
    let fact = |turn: Turn| {
        let agent = agents.get(turn.agent_id.as_str());
        let took = turn.ended_at.map(|ended| ended.since_ms(turn.created_at));
        TurnFact {
            agent: agent.map(|agent| agent.name.clone()).unwrap_or_default(),
            runtime: agent.map(|agent| agent.runtime.kind.as_str().to_owned()).unwrap_or_default(),
            state: turn.state.as_str().to_owned(),
            at: turn.created_at,
            duration_ms: took.and_then(|ms| u64::try_from(ms).ok()),
            tokens: tokens(&turn.usage),
            cost_micros: money(&turn.usage),
        }
    };
    Ok(turns.into_iter().map(fact).collect())
}

fn applies(tx: &mut dyn Tx, span: &Span) -> Result<Vec<Apply>> {
    let all = super::integration::applies_between(tx, span.start, span.end)?;
    let apply =
        |(at, revision, changed)| Apply { at, revision, changed: u64::try_from(changed).unwrap_or(0) };
    Ok(all.into_iter().map(apply).collect())
}

/// Tokens of a Turn as its runtime reported them.
fn tokens(usage: &Value) -> Option<u64> {
    let number = |names: [&str; 2]| names.iter().find_map(|name| usage.get(name)?.as_u64());
    let (input, output) =
        (number(["input_tokens", "inputTokens"]), number(["output_tokens", "outputTokens"]));
    match (input, output) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    }
}

/// Millionths of the money of a Turn as its runtime reported it.
fn money(usage: &Value) -> Option<u64> {
    ["cost_micros", "costMicros"].iter().find_map(|name| usage.get(name)?.as_u64())
}
