//! Deliveries: how many Parts ended how, and how long the delivered ones took.

use std::collections::BTreeMap;

use super::{Scene, Told};
use crate::chart::{Chart, Kind, Series, Unit, duration};
use crate::facts::{spread, tally};

const SENT: &str = "sent";
/// States in the order in which they are stacked.
const STATES: [&str; 5] = [SENT, "failed", "expired", "unknown", "cancelled"];

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.deliveries;
    let mut rows = Vec::new();
    let providers = tally(facts.records.iter().map(|part| part.provider.clone()));
    for (provider, parts) in &providers {
        let own = || facts.records.iter().filter(|part| part.provider == *provider);
        let of = |state: &str| own().filter(|part| part.state == state).count();
        let times = spread(own().filter_map(|part| part.latency_ms).collect());
        let time = |pick: fn((u64, u64, u64)) -> u64| {
            times.map_or_else(|| "-".to_owned(), |times| duration(pick(times)))
        };
        rows.push(vec![
            provider.clone(),
            parts.to_string(),
            of(SENT).to_string(),
            (of("failed") + of("expired")).to_string(),
            of("unknown").to_string(),
            time(|times| times.0),
            time(|times| times.1),
            time(|times| times.2),
        ]);
    }
    let columns = scene.words([
        "Provider",
        "Parts",
        "Delivered",
        "Failed",
        "Unknown",
        "Median",
        "95th percentile",
        "Longest",
    ]);
    told.section(scene, ("deliveries", "Deliveries"), facts, columns, rows);
    if facts.is_observed() {
        let states = tally(facts.records.iter().map(|part| part.state.as_str()));
        let of = |state: &str| states.get(state).copied().unwrap_or(0);
        told.line(scene, "parts_delivered", "Delivered parts", of(SENT));
        told.line(scene, "parts_not_delivered", "Parts not delivered", of("failed") + of("expired"));
        told.line(scene, "parts_unknown", "Parts of unknown fate", of("unknown"));
        told.charts.extend([per_day(scene), latency(scene)]);
    }
}

fn per_day(scene: &Scene<'_>) -> Chart {
    let mut counts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for part in &scene.facts.deliveries.records {
        let days = counts.entry(part.state.as_str()).or_insert_with(|| vec![0; scene.buckets.len()]);
        if let Some(count) = scene.place(part.at).and_then(|place| days.get_mut(place)) {
            *count += 1;
        }
    }
    let known = STATES.iter().copied();
    let other = counts.keys().copied().filter(|state| !STATES.contains(state));
    let series = known.chain(other).filter_map(|state| {
        let values = counts.get(state)?.iter().map(|count| Some(*count)).collect();
        Some(Series { name: state.to_owned(), values })
    });
    Chart {
        id: "deliveries_per_day".to_owned(),
        title: scene.word("Delivery parts per day"),
        description: scene.word("Stacked by state"),
        kind: Kind::StackedBars,
        unit: Unit::Count,
        labels: scene.labels(),
        series: series.collect(),
    }
}

fn latency(scene: &Scene<'_>) -> Chart {
    let mut days: Vec<Vec<u64>> = vec![Vec::new(); scene.buckets.len()];
    for part in &scene.facts.deliveries.records {
        let day = scene.place(part.at).and_then(|place| days.get_mut(place));
        if let (Some(day), Some(ms)) = (day, part.latency_ms) {
            day.push(ms);
        }
    }
    let days: Vec<Option<(u64, u64, u64)>> = days.into_iter().map(spread).collect();
    let series = |name: &str, pick: fn(&(u64, u64, u64)) -> u64| Series {
        name: scene.word(name),
        values: days.iter().map(|day| day.as_ref().map(pick)).collect(),
    };
    Chart {
        id: "delivery_latency".to_owned(),
        title: scene.word("Delivery latency per day"),
        description: scene.word("From the order to the receipt"),
        kind: Kind::Lines,
        unit: Unit::Milliseconds,
        labels: scene.labels(),
        series: vec![
            series("Median", |day| day.0),
            series("95th percentile", |day| day.1),
            series("Longest", |day| day.2),
        ],
    }
}
