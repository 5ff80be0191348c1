//! Tokens and money by Agent and runtime, as the runtimes reported them. What was not reported is absent, not zero.

use std::collections::BTreeSet;

use super::{RANKS_MAX, Scene, Told};
use crate::chart::{Chart, Kind, Series, Unit, grouped};
use crate::facts::TurnFact;

const MICROS: u64 = 1_000_000;
const CENT_MICROS: u64 = 10_000;

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.turns;
    let kinds: BTreeSet<(&str, &str)> =
        facts.records.iter().map(|turn| (turn.agent.as_str(), turn.runtime.as_str())).collect();
    let own = |(agent, runtime): &(&str, &str)| -> Vec<&TurnFact> {
        facts.records.iter().filter(|turn| turn.agent == *agent && turn.runtime == *runtime).collect()
    };
    let rows = kinds.iter().map(|kind| {
        let turns = own(kind);
        let reported =
            turns.iter().filter(|turn| turn.tokens.is_some() || turn.cost_micros.is_some()).count();
        let absent = || scene.word("none reported");
        vec![
            kind.0.to_owned(),
            kind.1.to_owned(),
            format!("{reported}/{}", turns.len()),
            sum(&turns, |turn| turn.tokens).map_or_else(absent, grouped),
            sum(&turns, |turn| turn.cost_micros).map_or_else(absent, money),
        ]
    });
    let columns = scene.words(["Agent", "Runtime", "Turns with a report", "Tokens", "Money"]);
    told.section(scene, ("costs", "Costs"), facts, columns, rows.collect());
    if !facts.is_observed() {
        return;
    }
    let costly = kinds.iter().filter_map(|kind| Some((kind.0, sum(&own(kind), |turn| turn.tokens)?)));
    let costly: Vec<(&str, u64)> = costly.take(RANKS_MAX).collect();
    told.charts.push(Chart {
        id: "cost_per_agent".to_owned(),
        title: scene.word("Tokens per agent"),
        description: scene.word("As the runtimes reported them"),
        kind: Kind::Ranking,
        unit: Unit::Tokens,
        labels: costly.iter().map(|(agent, _)| (*agent).to_owned()).collect(),
        series: vec![Series {
            name: scene.word("Tokens"),
            values: costly.iter().map(|(_, tokens)| Some(*tokens)).collect(),
        }],
    });
}

/// The sum of what was reported; nothing when nothing was.
fn sum(turns: &[&TurnFact], of: fn(&TurnFact) -> Option<u64>) -> Option<u64> {
    turns.iter().filter_map(|turn| of(turn)).reduce(u64::saturating_add)
}

fn money(micros: u64) -> String {
    format!("{}.{:02} USD", grouped(micros / MICROS), micros % MICROS / CENT_MICROS)
}
