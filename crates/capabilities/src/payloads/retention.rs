//! What is kept: by age, and by size, the oldest going first.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use loom_domain::{Result, Timestamp};
use serde::Serialize;

use super::{Doing, PayloadStore, index};

const DAY_MS: i64 = 86_400_000;

/// Age and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days; 0 keeps.
    pub days: u32,
    /// Bytes of all payloads together.
    pub bytes_max: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { days: 30, bytes_max: 1024 * 1024 * 1024 }
    }
}

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Payloads removed.
    pub removed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Payloads that stay.
    pub kept: u64,
}

struct Stored {
    at: Timestamp,
    bytes: u64,
    id: String,
    path: PathBuf,
}

pub(super) fn prune(
    store: &PayloadStore,
    before: Option<Timestamp>,
    now: Timestamp,
    held: &BTreeSet<String>,
    doing: Doing,
) -> Result<Pruned> {
    let oldest = match store.retention.days {
        0 => Timestamp(i64::MIN),
        days => now.plus_ms(-i64::from(days) * DAY_MS),
    };
    let mut all = stored(store);
    all.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
    let (mut pruned, mut kept_bytes) = (Pruned::default(), 0_u64);
    for one in all {
        let too_old = one.at < oldest || before.is_some_and(|before| one.at < before);
        let too_much = kept_bytes.saturating_add(one.bytes) > store.retention.bytes_max;
        if held.contains(&one.id) || !(too_old || too_much) {
            kept_bytes = kept_bytes.saturating_add(one.bytes);
            pruned.kept += 1;
            continue;
        }
        pruned.removed += 1;
        pruned.bytes += one.bytes;
        if doing == Doing::Remove {
            // The row first: a payload without its file would look lost, not removed.
            index::purged(&store.root, &one.id, now)?;
            let _ = std::fs::remove_file(&one.path);
        }
    }
    Ok(pruned)
}

/// Every stored payload, with the time at which it was written.
fn stored(store: &PayloadStore) -> Vec<Stored> {
    let folders = std::fs::read_dir(&store.root).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = folders
        .filter(|path| path.is_dir())
        .flat_map(|path| std::fs::read_dir(path).into_iter().flatten().flatten());
    files
        .filter_map(|entry| {
            let name = entry.file_name();
            let hex = name.to_str()?.strip_suffix(".json")?.to_owned();
            let facts = entry.metadata().ok()?;
            let since = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(Stored {
                at: Timestamp(i64::try_from(since.as_millis()).ok()?),
                bytes: facts.len(),
                id: format!("sha256:{hex}"),
                path: entry.path(),
            })
        })
        .collect()
}
