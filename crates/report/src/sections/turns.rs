//! Turns by Agent and runtime.

use std::collections::BTreeSet;

use super::{Scene, Told};
use crate::chart::duration;
use crate::facts::spread;

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.turns;
    let kinds: BTreeSet<(&str, &str)> =
        facts.records.iter().map(|turn| (turn.agent.as_str(), turn.runtime.as_str())).collect();
    let rows = kinds.iter().map(|(agent, runtime)| {
        let own = || facts.records.iter().filter(|turn| turn.agent == *agent && turn.runtime == *runtime);
        let of = |state: &str| own().filter(|turn| turn.state == state).count();
        let times = spread(own().filter_map(|turn| turn.duration_ms).collect());
        let time = |pick: fn((u64, u64, u64)) -> u64| {
            times.map_or_else(|| "-".to_owned(), |times| duration(pick(times)))
        };
        let (all, completed, failed) = (own().count(), of("completed"), of("failed"));
        vec![
            (*agent).to_owned(),
            (*runtime).to_owned(),
            all.to_string(),
            completed.to_string(),
            failed.to_string(),
            (all - completed - failed).to_string(),
            time(|times| times.0),
            time(|times| times.2),
        ]
    });
    let columns =
        scene.words(["Agent", "Runtime", "Turns", "Completed", "Failed", "Other", "Median", "Longest"]);
    told.section(scene, ("turns", "Turns"), facts, columns, rows.collect());
    if facts.is_observed() {
        told.line(scene, "turns_started", "Turns started", facts.records.len());
    }
}
