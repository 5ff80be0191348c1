//! Queues of Agents at the end of the window, and how old their oldest item was at the end of each day.

use std::collections::BTreeSet;

use loom_domain::Timestamp;

use super::{RANKS_MAX, Scene, Told};
use crate::chart::{Chart, Kind, Series, Unit, duration};
use crate::facts::Item;

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.items;
    let end = scene.order.window.end;
    let agents: BTreeSet<&str> = facts.records.iter().map(|item| item.agent.as_str()).collect();
    let rows = agents.iter().map(|agent| {
        let open = facts.records.iter().filter(|item| item.agent == **agent && is_open(item, end));
        let age = oldest_age_ms(&facts.records, agent, end);
        vec![(*agent).to_owned(), open.count().to_string(), age.map_or_else(|| "-".to_owned(), duration)]
    });
    let columns = scene.words(["Agent", "Open at the end", "Oldest"]);
    told.section(scene, ("queues", "Agent queues"), facts, columns, rows.collect());
    if !facts.is_observed() {
        return;
    }
    let open = facts.records.iter().filter(|item| is_open(item, end)).count();
    told.line(scene, "items_open", "Items open at the end", open);
    let series = agents.iter().take(RANKS_MAX).map(|agent| Series {
        name: (*agent).to_owned(),
        values: scene
            .buckets
            .iter()
            .map(|day| Some(oldest_age_ms(&facts.records, agent, day.end).unwrap_or(0) / 1_000))
            .collect(),
    });
    told.charts.push(Chart {
        id: "queue_age".to_owned(),
        title: scene.word("Age of the oldest open item"),
        description: scene.word("At the end of each day"),
        kind: Kind::Lines,
        unit: Unit::Seconds,
        labels: scene.labels(),
        series: series.collect(),
    });
}

/// Whether an item waited at an instant.
fn is_open(item: &Item, at: Timestamp) -> bool {
    item.created_at < at && item.closed_at.is_none_or(|closed| closed >= at)
}

fn oldest_age_ms(items: &[Item], agent: &str, at: Timestamp) -> Option<u64> {
    let open = items.iter().filter(|item| item.agent == agent && is_open(item, at));
    let oldest = open.map(|item| item.created_at).min()?;
    u64::try_from(at.since_ms(oldest)).ok()
}
