//! Applies of the integration branch.

use super::{Scene, Told};

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.applies;
    let rows = facts
        .records
        .iter()
        .map(|apply| vec![scene.wall(Some(apply.at)), apply.revision.clone(), apply.changed.to_string()]);
    let columns = scene.words(["Time", "Revision", "Changed objects"]);
    told.section(scene, ("integration_branch", "Integration branch"), facts, columns, rows.collect());
}
