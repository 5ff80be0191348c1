//! Connectors: how often each ran, and with what success.

use super::{RANKS_MAX, Scene, Told};
use crate::chart::{Chart, Kind, Series, Unit, duration};
use crate::facts::{Run, ranked, spread, tally};

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.runs;
    let connectors = ranked(&tally(facts.records.iter().map(|run| run.connector.clone())));
    let of = |connector: &str| {
        let connector = connector.to_owned();
        facts.records.iter().filter(move |run: &&Run| run.connector == connector)
    };
    let succeeded = |connector: &str| count(of(connector).filter(|run| run.ok).count());
    let rows = connectors.iter().map(|(connector, runs)| {
        let times = spread(of(connector).map(|run| run.duration_ms).collect());
        vec![
            connector.clone(),
            runs.to_string(),
            succeeded(connector).to_string(),
            (runs - succeeded(connector)).to_string(),
            times.map_or_else(|| "-".to_owned(), |times| duration(times.0)),
            scene.wall(of(connector).filter(|run| run.ok).map(|run| run.at).max()),
        ]
    });
    let columns = scene.words(["Connector", "Runs", "Succeeded", "Failed", "Median", "Last success"]);
    told.section(scene, ("connectors", "Connectors"), facts, columns, rows.collect());
    if !facts.is_observed() {
        return;
    }
    let failed = facts.records.iter().filter(|run| !run.ok).count();
    told.line(scene, "connector_runs_failed", "Connector runs that failed", failed);
    let first = || connectors.iter().take(RANKS_MAX);
    told.charts.push(Chart {
        id: "connector_runs".to_owned(),
        title: scene.word("Connector runs"),
        description: scene.word("Succeeded and failed runs of each connector"),
        kind: Kind::Ranking,
        unit: Unit::Count,
        labels: first().map(|(connector, _)| connector.clone()).collect(),
        series: vec![
            Series {
                name: scene.word("Succeeded"),
                values: first().map(|(connector, _)| Some(succeeded(connector))).collect(),
            },
            Series {
                name: scene.word("Failed"),
                values: first().map(|(connector, runs)| Some(runs - succeeded(connector))).collect(),
            },
        ],
    });
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
