//! The most frequent failures, by code and by where they happened.

use super::{RANKS_MAX, Scene, Told};
use crate::Observed;
use crate::facts::{ranked, tally};

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = scene.facts;
    let delivered = facts.deliveries.records.iter().filter_map(|part| {
        let place = format!("{} ({})", scene.word("delivery"), part.provider);
        Some((part.code.clone()?, place))
    });
    let ran = facts.runs.records.iter().filter(|run| !run.ok);
    let ran = ran.map(|run| (run.code.clone().unwrap_or_else(|| "-".to_owned()), run.connector.clone()));
    let counts = ranked(&tally(delivered.chain(ran)));
    let rows = counts.into_iter().take(RANKS_MAX);
    let rows = rows.map(|((code, place), count)| vec![code, place, count.to_string()]).collect();
    let columns = scene.words(["Code", "Where", "Count"]);
    let observed = if facts.runs.is_observed() || facts.deliveries.is_observed() {
        Observed::<()>::complete(Vec::new())
    } else {
        Observed::default()
    };
    told.section(scene, ("failures", "Failures"), &observed, columns, rows);
}
