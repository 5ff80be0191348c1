//! The document `loom.status/v1`: pure over what was found.

use std::collections::BTreeMap;

use loom_api::view;
use loom_capabilities::Row;
use loom_domain::Timestamp;
use loom_store::ops::figures::Figures;
use loom_store::ops::stats::Counts;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Members that change with the clock alone; an `ETag` does not cover them.
const VOLATILE: [&str; 2] = ["uptime_seconds", "generated_at"];
const AGE_SUFFIX: &str = "_age_seconds";

/// What was found at one moment.
pub(super) struct Facts {
    /// State of the hub.
    pub(super) hub: String,
    /// Whether the gateways themselves were asked.
    pub(super) observed: bool,
    /// Connections.
    pub(super) connections: Vec<view::ConnectionEntry>,
    /// Numbers of the store, if there is one.
    pub(super) figures: Option<Figures>,
    /// This moment.
    pub(super) now: Timestamp,
    /// Start of this server.
    pub(super) started_at: Timestamp,
}

/// Writes the document, with the lines of the catalog and the newest runs of connectors, the newest first.
pub(super) fn status(facts: &Facts, lines: &[Value], runs: &[Row]) -> Value {
    let now = facts.now;
    json!({
        "schema_version": "loom.status/v1",
        "version": env!("CARGO_PKG_VERSION"),
        "generated_at": now,
        "uptime_seconds": seconds(now, facts.started_at),
        "hub": facts.hub,
        "connections": facts.connections.iter().map(|entry| connection(entry, facts)).collect::<Vec<_>>(),
        "agents": facts.figures.as_ref().map(|f| json!({"total": f.stats.agents, "running": f.stats.running, "paused": f.stats.paused})),
        "queues": facts.figures.as_ref().map(|figures| queues(figures, now)),
        "outbox": facts.figures.as_ref().map(|figures| outbox(figures, now)),
        "notices": facts.figures.as_ref().map(|figures| figures.stats.notices),
        "connectors": connectors(lines, runs),
        "capabilities": lines.len(),
        "registry": null,
        "last_update": null,
    })
}

fn connection(entry: &view::ConnectionEntry, facts: &Facts) -> Value {
    let (now, health) = (facts.now, entry.health.as_ref());
    let state = if facts.observed { entry.state.as_str() } else { "not_observed" };
    let age = |at: Option<Timestamp>| at.map(|at| seconds(now, at));
    let proved = health.and_then(|health| health.proved_alive_at);
    let event = health.and_then(|health| health.last_event_at);
    let sent = health.and_then(|health| health.last_sent_at);
    json!({
        "id": entry.connection.id, "provider": entry.connection.provider, "account": entry.connection.account_ref,
        "state": state, "reason": facts.observed.then(|| entry.reason.as_str()),
        "proved_alive_at": proved, "proof_age_seconds": age(proved),
        "last_event_at": event, "event_age_seconds": age(event),
        "last_sent_at": sent, "sent_age_seconds": age(sent),
        "parts_open": health.map(|health| health.pending), "parts_unknown": health.map(|health| health.unknown),
        "last_error": entry.last_error.as_ref().map(|error| error.code),
    })
}

fn queues(figures: &Figures, now: Timestamp) -> Value {
    let of_agents = figures.queues.iter().map(|queue| {
        json!({"agent": queue.agent, "open": queue.open, "queued": queue.queued,
               "oldest_queued_at": queue.oldest, "oldest_age_seconds": queue.oldest.map(|at| seconds(now, at))})
    });
    json!({
        "inbox": counts(&figures.stats.inbox),
        "oldest_queued_at": figures.stats.oldest_queued,
        "oldest_age_seconds": figures.stats.oldest_queued.map(|at| seconds(now, at)),
        "agents": of_agents.collect::<Vec<_>>(),
        "refusals": counts(&figures.stats.reasons),
    })
}

fn outbox(figures: &Figures, now: Timestamp) -> Value {
    json!({
        "items": counts(&figures.stats.outbox), "parts": counts(&figures.parts), "dead": figures.stats.dead,
        "oldest_at": figures.stats.oldest_outbox,
        "oldest_age_seconds": figures.stats.oldest_outbox.map(|at| seconds(now, at)),
        "oldest_unknown_at": figures.oldest_unknown,
        "unknown_age_seconds": figures.oldest_unknown.map(|at| seconds(now, at)),
    })
}

fn counts(counts: &Counts) -> Value {
    Value::Object(counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect::<Map<_, _>>())
}

/// Connectors with their newest runs.
fn connectors(lines: &[Value], runs: &[Row]) -> Vec<Value> {
    let mut by_connector: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for run in runs {
        by_connector.entry(run.connector_id.as_str()).or_default().push(run);
    }
    let line = |line: &Value| {
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default();
        let own = by_connector.get(id).map(Vec::as_slice).unwrap_or_default();
        json!({
            "id": id, "readiness": line.get("readiness"), "runs": own.len(),
            "failed": own.iter().filter(|run| !run.ok).count(),
            "last_run_at": own.first().map(|run| run.time), "last_code": own.first().and_then(|run| run.code),
            "last_ok_at": own.iter().find(|run| run.ok).map(|run| run.time),
        })
    };
    lines.iter().map(line).collect()
}

pub(super) fn seconds(now: Timestamp, at: Timestamp) -> u64 {
    u64::try_from(now.since_ms(at) / 1_000).unwrap_or(0)
}

/// A weak `ETag` of a document: equal when nothing changed but the clock.
pub(crate) fn weak_tag(document: &Value) -> String {
    let mut stable = document.clone();
    settle(&mut stable);
    let digest = Sha256::digest(stable.to_string().as_bytes());
    format!("W/\"{}\"", hex::encode(digest.get(..16).unwrap_or_default()))
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !VOLATILE.contains(&name.as_str()) && !name.ends_with(AGE_SUFFIX));
            members.values_mut().for_each(settle);
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_does_not_move_with_the_clock() {
        let tag = |uptime: u64, age: u64, open: u64| {
            weak_tag(
                &json!({"uptime_seconds": uptime, "queues": [{"oldest_age_seconds": age, "open": open}]}),
            )
        };
        assert_eq!(tag(1, 2, 3), tag(9, 8, 3));
        assert_ne!(tag(1, 2, 3), tag(1, 2, 4));
        assert!(tag(1, 2, 3).starts_with("W/\""));
    }
}
