//! Which rooms may name which crates from outside: one door out, one database room, one command line.

use std::path::Path;

use anyhow::Context as _;

use crate::walls::{self, Named};

/// A crate and the only rooms whose product code may name it.
const DOORS: &[(&str, &[&str])] = &[
    ("reqwest", &["loom-transport"]),
    ("ureq", &[]),
    ("isahc", &[]),
    // The API's client speaks to the hub alone; servers listen.
    ("hyper", &["loom-transport", "loom-api", "loom-server", "loom-twins"]),
    ("hyper-util", &["loom-transport", "loom-api", "loom-server", "loom-twins"]),
    ("axum", &["loom-server", "loom-twins"]),
    ("rusqlite", &["loom-store"]),
    ("postgres", &["loom-store"]),
    ("tokio-postgres", &["loom-store"]),
    ("clap", &["loom"]),
    ("indicatif", &["loom"]),
    // Wherever a document that people write or read has its type; what is made of it is `loom_capabilities::Schema`.
    ("schemars", &["loom-capabilities", "loom-api", "loom-report", "loom-hub"]),
    ("jsonschema", &["loom-capabilities"]),
    // Projections of connectors: jq, limited in `crates/capabilities/src/jq/`.
    ("jaq-core", &["loom-capabilities"]),
    ("jaq-json", &["loom-capabilities"]),
    ("jaq-std", &["loom-capabilities"]),
];

/// What the pure rooms must not know, whatever the version.
const IMPURE: &[&str] =
    &["tokio", "tokio-util", "futures-util", "hyper", "getrandom", "nix", "rustix", "tracing"];
const PURE_ROOMS: &[&str] = &["loom-domain", "loom-markup"];

/// Every crate that is named in a room where it does not belong, or that `deny.toml` bans altogether.
pub(crate) fn faults(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut faults: Vec<String> =
        walls::named(root)?.iter().filter(|named| !named.dev).filter_map(judge).collect();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).with_context(|| name.to_owned());
    faults.extend(banned(&read("deny.toml")?, &read("Cargo.lock")?)?);
    Ok(faults)
}

/// Crates of the lock file that `deny.toml` bans.
fn banned(deny: &str, lock: &str) -> anyhow::Result<Vec<String>> {
    let (deny, lock): (toml::Table, toml::Table) = (deny.parse()?, lock.parse()?);
    let bans = deny.get("bans").and_then(|bans| bans.get("deny")).and_then(toml::Value::as_array);
    let bans: Vec<&str> = bans
        .context("deny.toml has no bans.deny")?
        .iter()
        .filter_map(|ban| ban.get("crate")?.as_str())
        .collect();
    let locked = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no package")?;
    let names = locked.iter().filter_map(|package| package.get("name")?.as_str());
    Ok(names.filter(|name| bans.contains(name)).map(|name| format!("Cargo.lock: {name} is banned")).collect())
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

    /// CAP-037: no other room depends on an HTTP client.
    #[test]
    fn cap_037_there_is_one_door_out_and_one_database_room() {
        for room in
            ["loom-channels", "loom-capabilities", "loom-runtimes", "loom-hub", "loom-secrets", "loom"]
        {
            for client in ["reqwest", "ureq", "isahc", "hyper", "hyper-util"] {
                assert!(judged(room, client).is_some(), "{room} may name {client}");
            }
        }
        assert!(judged("loom-hub", "rusqlite").is_some());
        assert!(judged("loom-domain", "tokio").is_some());
        assert!(judged("loom-transport", "hyper").is_none());
    }

    #[test]
    fn a_banned_crate_is_found_however_deep_it_stands() {
        let deny = "[bans]\ndeny = [{ crate = \"openssl\", reason = \"r\" }]";
        let lock = |name: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"");
        assert_eq!(banned(deny, &lock("openssl")).unwrap().len(), 1);
        assert!(banned(deny, &lock("rustls")).unwrap().is_empty());
    }
}
