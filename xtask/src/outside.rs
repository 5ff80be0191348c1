//! Which rooms may name which crates from outside: one door out, one database room, one command line.

use std::path::Path;

use crate::walls::{self, Named};

/// A crate and the only rooms whose product code may name it.
const DOORS: &[(&str, &[&str])] = &[
    ("reqwest", &["loom-transport"]),
    ("ureq", &[]),
    ("isahc", &[]),
    ("native-tls", &[]),
    ("openssl", &[]),
    ("aws-lc-rs", &[]),
    // The API's client speaks to the hub alone; servers listen.
    ("hyper", &["loom-transport", "loom-api", "loom-server", "loom-twins"]),
    ("hyper-util", &["loom-transport", "loom-api", "loom-server", "loom-twins"]),
    ("axum", &["loom-server", "loom-twins"]),
    ("rusqlite", &["loom-store"]),
    ("postgres", &["loom-store"]),
    ("tokio-postgres", &["loom-store"]),
    ("clap", &["loom"]),
];

/// What the pure rooms must not know, whatever the version.
const IMPURE: &[&str] =
    &["tokio", "tokio-util", "futures-util", "hyper", "getrandom", "nix", "rustix", "tracing"];
const PURE_ROOMS: &[&str] = &["loom-domain", "loom-markup"];

/// Every crate that is named in a room where it does not belong.
pub(crate) fn faults(root: &Path) -> anyhow::Result<Vec<String>> {
    Ok(walls::named(root)?.iter().filter(|named| !named.dev).filter_map(judge).collect())
}

fn judge(named: &Named) -> Option<String> {
    let Named { room, target, .. } = named;
    if PURE_ROOMS.contains(&room.as_str()) && IMPURE.contains(&target.as_str()) {
        return Some(format!("{room}: is pure and may not name {target}"));
    }
    let (_, rooms) = DOORS.iter().find(|(name, _)| name == target)?;
    (!rooms.contains(&room.as_str())).then(|| format!("{room}: may not name {target}; only {rooms:?} may"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(room: &str, target: &str) -> Option<String> {
        judge(&Named { room: room.to_owned(), target: target.to_owned(), dev: false })
    }

    #[test]
    fn there_is_one_door_out_and_one_database_room() {
        assert!(judged("loom-channels", "reqwest").is_some());
        assert!(judged("loom-hub", "rusqlite").is_some());
        assert!(judged("loom-domain", "tokio").is_some());
        assert!(judged("loom-transport", "hyper").is_none());
    }
}
