//! Connections: what they brought, and when they last proved themselves.

use super::{Scene, Told};

pub(super) fn tell(scene: &Scene<'_>, told: &mut Told) {
    let facts = &scene.facts.connections;
    let rows = facts.records.iter().map(|connection| {
        vec![
            connection.provider.clone(),
            connection.account.clone(),
            scene.word(if connection.enabled { "yes" } else { "no" }),
            connection.events.to_string(),
            connection.refused.to_string(),
            scene.wall(connection.last_event_at),
            scene.wall(connection.last_sent_at),
        ]
    });
    let columns =
        scene.words(["Provider", "Account", "Enabled", "Events", "Refused", "Last event", "Last delivery"]);
    told.section(scene, ("connections", "Connections"), facts, columns, rows.collect());
}
