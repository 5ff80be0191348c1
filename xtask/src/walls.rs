//! The import direction between the rooms, read from their manifests.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Each room and the rooms that it may name, foundations first.
///
/// A new room gets its line here; a room that is missing is refused.
const ROOMS: &[(&str, &[&str])] = &[
    ("loom-domain", &[]),
    ("loom-api", &["loom-domain"]),
    // Pure like the foundation: facts in, documents out.
    ("loom-report", &["loom-domain"]),
    ("loom-secrets", &["loom-domain"]),
    ("loom-markup", &["loom-domain"]),
    ("loom-transport", &["loom-domain", "loom-secrets", "loom-markup"]),
    (
        "loom-store",
        &["loom-domain", "loom-report", "loom-api", "loom-secrets", "loom-markup", "loom-transport"],
    ),
    ("loom-channels", &["loom-domain", "loom-secrets", "loom-markup", "loom-transport"]),
    ("loom-runtimes", &["loom-domain", "loom-secrets", "loom-markup", "loom-transport"]),
    ("loom-capabilities", &["loom-domain", "loom-api", "loom-secrets", "loom-markup", "loom-transport"]),
    ("loom-branch", &["loom-domain", "loom-secrets", "loom-capabilities"]),
    // The library that others build on; it only names what exists elsewhere.
    ("loopx", &["loom-domain", "loom-capabilities", "loom-transport"]),
    (
        "loom-hub",
        &[
            "loom-domain",
            "loom-report",
            "loom-api",
            "loom-secrets",
            "loom-markup",
            "loom-transport",
            "loom-store",
            "loom-channels",
            "loom-runtimes",
            "loom-capabilities",
        ],
    ),
    (
        "loom-server",
        &[
            "loom-domain",
            "loom-report",
            "loom-api",
            "loom-secrets",
            "loom-markup",
            "loom-transport",
            "loom-store",
            "loom-channels",
            "loom-runtimes",
            "loom-capabilities",
            "loom-hub",
        ],
    ),
    ("loom-twins", &[]),
    ("xtask", &[]),
];

/// Rooms at the top: they may name every other room.
const TOPS: &[&str] = &["loom", "loom-bench"];

/// Simulators: any room may test against them, only a top may build on them.
const TWINS: &str = "loom-twins";

/// The parts of a manifest that name other crates; `true` where only tests see them.
const TABLES: &[(&str, bool)] =
    &[("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];

/// One dependency as a manifest names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The room that names it.
    pub(crate) room: String,
    /// The crate that is named.
    pub(crate) target: String,
    /// Only tests see it.
    pub(crate) dev: bool,
}

/// Every dependency that points up, sideways or through a wall.
pub(crate) fn faults(root: &Path) -> anyhow::Result<Vec<String>> {
    Ok(named(root)?.iter().filter_map(judge).collect())
}

/// Reads the dependencies of every package of the workspace.
pub(crate) fn named(root: &Path) -> anyhow::Result<Vec<Named>> {
    let mut all = Vec::new();
    for path in manifests(root)? {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        all.extend(read(&text).with_context(|| path.display().to_string())?);
    }
    anyhow::ensure!(!all.is_empty(), "no manifest was found below {}", root.display());
    Ok(all)
}

fn manifests(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        ["loom", "bench", "xtask"].map(|folder| root.join(folder).join("Cargo.toml")).to_vec();
    for entry in std::fs::read_dir(root.join("crates"))? {
        found.push(entry?.path().join("Cargo.toml"));
    }
    found.retain(|path| path.is_file());
    found.sort();
    Ok(found)
}

fn read(manifest: &str) -> anyhow::Result<Vec<Named>> {
    let manifest: toml::Table = manifest.parse()?;
    let package = manifest.get("package").and_then(toml::Value::as_table).context("no [package]")?;
    let room = package.get("name").and_then(toml::Value::as_str).context("no package.name")?;
    let mut all = named_in(room, &manifest);
    // [target.'cfg(…)'.dependencies] hides nothing.
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    for table in targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table) {
        all.extend(named_in(room, table));
    }
    Ok(all)
}

fn named_in(room: &str, table: &toml::Table) -> Vec<Named> {
    let of = |(name, dev): &(&str, bool)| {
        let entries = table.get(*name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let dev = *dev;
        entries
            .into_iter()
            .map(move |(key, value)| Named { room: room.to_owned(), target: real_name(&key, &value), dev })
            .collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(of).collect()
}

/// A dependency may be renamed; the wall looks at what it really is.
fn real_name(key: &str, value: &toml::Value) -> String {
    value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned()
}

fn judge(named: &Named) -> Option<String> {
    let Named { room, target, dev } = named;
    if !is_ours(target) || TOPS.contains(&room.as_str()) {
        return None;
    }
    if target == TWINS && *dev {
        return None;
    }
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| name == room) else {
        return Some(format!("{room}: has no place in xtask/src/walls.rs; give it one"));
    };
    let stands = allowed.contains(&target.as_str());
    (!stands).then(|| format!("{room}: may not name {target} (ARCHITECTURE.md, walls)"))
}

fn is_ours(name: &str) -> bool {
    ROOMS.iter().any(|(room, _)| *room == name) || TOPS.contains(&name) || name.starts_with("loom-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(manifest: &str) -> Vec<String> {
        read(manifest).unwrap().iter().filter_map(judge).collect()
    }

    #[test]
    fn imports_point_down() {
        let up = "[package]\nname = \"loom-domain\"\n[dependencies]\nloom-store.workspace = true";
        assert_eq!(judged(up).len(), 1);
        let down = "[package]\nname = \"loom-store\"\n[dependencies]\nloom-domain.workspace = true";
        assert!(judged(down).is_empty());
        let sideways = "[package]\nname = \"loom-channels\"\n[dependencies]\nloom-store.workspace = true";
        assert_eq!(judged(sideways).len(), 1);
    }

    #[test]
    fn twins_are_for_tests_and_for_the_tops() {
        let product = "[package]\nname = \"loom-hub\"\n[dependencies]\nloom-twins.workspace = true";
        assert_eq!(judged(product).len(), 1);
        let test = "[package]\nname = \"loom-hub\"\n[dev-dependencies]\nloom-twins.workspace = true";
        assert!(judged(test).is_empty());
        let top = "[package]\nname = \"loom\"\n[dependencies]\nloom-twins.workspace = true";
        assert!(judged(top).is_empty());
    }

    #[test]
    fn renames_targets_and_new_rooms_do_not_hide() {
        let renamed = "[package]\nname = \"loom-api\"\n[dependencies]\nx = { package = \"loom-hub\", path = \"../hub\" }";
        assert_eq!(judged(renamed).len(), 1);
        let target = "[package]\nname = \"loom-api\"\n[target.'cfg(unix)'.dependencies]\nloom-hub = \"0\"";
        assert_eq!(judged(target).len(), 1);
        let unknown = "[package]\nname = \"loom-new\"\n[dependencies]\nloom-domain = \"0\"";
        assert_eq!(judged(unknown).len(), 1);
    }
}
