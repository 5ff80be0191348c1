//! What came in: items by state, and what was refused for which reason.

use super::{RANKS_MAX, Scene, Told};
use crate::chart::{Chart, Kind, Series, Unit};
use crate::facts::{ranked, tally};

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let (items, refusals) = (&scene.facts.items, &scene.facts.refusals);
    let came = || items.records.iter().filter(|item| scene.order.window.holds(item.created_at));
    let states = ranked(&tally(came().map(|item| item.state.clone())));
    let rows = states.iter().map(|(state, count)| vec![state.clone(), count.to_string()]).collect();
    told.section(scene, ("inbox", "Inbox"), items, scene.words(["State", "Items"]), rows);
    if items.is_observed() {
        told.line(scene, "messages_received", "Messages received", came().count());
    }
    let reasons = ranked(&tally(refusals.records.iter().map(|refusal| refusal.reason.clone())));
    let rows = reasons.iter().map(|(reason, count)| vec![reason.clone(), count.to_string()]).collect();
    told.section(scene, ("refusals", "Refusals"), refusals, scene.words(["Reason", "Count"]), rows);
    if refusals.is_observed() {
        told.line(scene, "refusals", "Refusals", refusals.records.len());
        let first = || reasons.iter().take(RANKS_MAX);
        told.charts.push(Chart {
            id: "refusals_by_reason".to_owned(),
            title: scene.word("Refusals by reason"),
            description: scene.word("Count"),
            kind: Kind::Ranking,
            unit: Unit::Count,
            labels: first().map(|(reason, _)| reason.clone()).collect(),
            series: vec![Series {
                name: scene.word("Refusals"),
                values: first().map(|(_, count)| Some(*count)).collect(),
            }],
        });
    }
}
