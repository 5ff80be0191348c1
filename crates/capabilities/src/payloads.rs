//! Payloads on disk: content-addressed documents and an index by day.

mod diff;
mod index;
mod retention;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result, Timestamp};
use loom_secrets::private_file::{ensure_private_dir, read_private, write_private};
use serde_json::Value;

use crate::Payload;
use crate::payload::digests_of;

pub use diff::{Difference, differences};
pub use index::{HistoryFilter, Row};
pub use retention::{Pruned, Retention};

/// Hex digits that name a payload without ambiguity in practice.
const PREFIX_MIN: usize = 12;
const DIGITS: usize = 64;

/// The payloads below a home.
#[derive(Debug, Clone)]
pub struct PayloadStore {
    root: PathBuf,
    retention: Retention,
}

impl PayloadStore {
    /// Names the folder; makes nothing.
    pub fn new(home: &Path) -> Self {
        PayloadStore { root: home.join("payloads"), retention: Retention::default() }
    }

    /// Sets what is kept.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Keeps a payload and its index row. The first save of a day also removes what is too old or too much.
    pub fn save(&self, payload: &Payload) -> Result<()> {
        let path = self.path_of(&payload.payload_id)?;
        if let Some(home) = self.root.parent() {
            ensure_private_dir(home)?;
        }
        ensure_private_dir(&self.root)?;
        if !path.exists() {
            let folder = path.parent().unwrap_or(&self.root);
            ensure_private_dir(folder)?;
            write_private(&path, &serde_json::to_vec(payload).map_err(Error::internal)?)?;
        }
        let is_first = index::append(&self.root, &Row::of(payload))?;
        if is_first {
            self.prune(None, payload.timings.finished_at, &self.held(), Doing::Remove)?;
        }
        Ok(())
    }

    /// Payloads that stay whatever their age: those of Turns that are not over.
    pub fn held(&self) -> BTreeSet<String> {
        let home = self.root.parent();
        home.map(|home| crate::TurnRoom::new(home, self.clone()).held_payloads()).unwrap_or_default()
    }

    /// Reads a payload by `sha256:HEX`, or by at least 12 hex digits of it.
    pub fn show(&self, id: &str) -> Result<Value> {
        let path = self.find(id)?;
        let bytes = read_private(&path).map_err(|_| absent(id))?;
        serde_json::from_slice(&bytes).map_err(|_| damaged("the stored payload is not JSON"))
    }

    /// Reads a payload and recomputes both of its digests.
    pub fn verified(&self, id: &str) -> Result<Value> {
        let path = self.find(id)?;
        let document = self.show(id)?;
        let (content, whole) = digests_of(&document);
        let says = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        if says("content_digest") != content || says("payload_id") != whole || self.path_of(&whole)? != path {
            return Err(damaged("the stored payload does not have the digests it names"));
        }
        Ok(document)
    }

    /// What was run, newest first.
    pub fn history(&self, filter: &HistoryFilter) -> Result<Vec<Row>> {
        index::read(&self.root, filter)
    }

    /// Removes what ended before a time, what is too old, and the oldest beyond the size. Held ones stay.
    pub fn prune(
        &self,
        before: Option<Timestamp>,
        now: Timestamp,
        held: &BTreeSet<String>,
        doing: Doing,
    ) -> Result<Pruned> {
        retention::prune(self, before, now, held, doing)
    }

    fn find(&self, id: &str) -> Result<PathBuf> {
        let hex = id.strip_prefix("sha256:").unwrap_or(id);
        let is_hex = hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hex || !(PREFIX_MIN..=DIGITS).contains(&hex.len()) {
            return Err(absent(id));
        }
        let folder = self.root.join(hex.get(..2).unwrap_or_default());
        let mut found = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(hex) && name.strip_suffix(".json").is_some())
        });
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.path()),
            (Some(_), Some(_)) => {
                Err(absent(id).with_hint("several payloads begin like this; give more digits"))
            }
            _ => Err(absent(id)),
        }
    }

    fn path_of(&self, payload_id: &str) -> Result<PathBuf> {
        let hex = payload_id.strip_prefix("sha256:").filter(|hex| hex.len() == DIGITS);
        let hex = hex.ok_or_else(|| damaged("a payload has no id"))?;
        Ok(self.root.join(hex.get(..2).unwrap_or_default()).join(format!("{hex}.json")))
    }
}

/// Whether a change is made, or only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Removes.
    Remove,
    /// Tells what would be removed.
    Tell,
}

fn absent(id: &str) -> Error {
    let id: String = id.chars().take(80).collect();
    Error::new(Code::NotFound, format!("no payload {id}")).with_hint("loom value-connectors history")
}

fn damaged(why: &str) -> Error {
    Error::new(Code::IntegrityError, why)
}

#[cfg(test)]
mod tests;
