//! The last observation of a program, kept in the home, so that each fact is told once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use super::evaluate::{Assessment, State};
use super::program::Program;
use crate::pr_review::Facts;
use crate::state_file::StateFile;
use crate::{Cx, RunRequest, github, sha256_of};

const FOLDER: &str = "pr-program";
/// Largest file that is read.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What was last seen of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) facts: Facts,
}

/// What was last seen of all, by name in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    pub(super) pulls: BTreeMap<String, Kept>,
    /// Whether the whole scope was seen: only then is what is absent gone.
    pub(super) complete: bool,
}

/// What changed between two.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    /// Names of the members that changed.
    pub(super) changed: BTreeMap<String, Vec<&'static str>>,
}

impl Delta {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Snapshot {
    /// Takes one.
    pub(super) fn of(assessment: &Assessment, complete: bool) -> Self {
        let kept = assessment.pulls.iter().map(|one| {
            let kept = Kept { name: one.wish.name.clone(), state: one.state, facts: one.facts.clone() };
            (one.wish.key(), kept)
        });
        Snapshot { pulls: kept.collect(), complete }
    }

    /// Compares with an earlier one. What is absent counts as removed only when everything was seen.
    pub(super) fn since(&self, earlier: &Snapshot) -> Delta {
        let mut delta = Delta::default();
        for (key, now) in &self.pulls {
            match earlier.pulls.get(key) {
                None => delta.added.push(now.name.clone()),
                Some(before) => {
                    let fields = differences(before, now);
                    if !fields.is_empty() {
                        delta.changed.insert(now.name.clone(), fields);
                    }
                }
            }
        }
        if self.complete {
            let gone = earlier.pulls.iter().filter(|(key, _)| !self.pulls.contains_key(*key));
            delta.removed = gone.map(|(_, kept)| kept.name.clone()).collect();
        }
        delta
    }

    /// What is known after it: what an incomplete one did not show is still there.
    pub(super) fn over(mut self, earlier: &Snapshot) -> Self {
        if !self.complete {
            for (key, kept) in &earlier.pulls {
                self.pulls.entry(key.clone()).or_insert_with(|| kept.clone());
            }
        }
        self
    }

    /// This one, with what a later one says of those names.
    pub(super) fn with(&self, later: &Snapshot, names: &BTreeSet<String>) -> Self {
        let mut pulls = self.pulls.clone();
        for name in names {
            match later.pulls.get(name) {
                Some(kept) => pulls.insert(name.clone(), kept.clone()),
                None => pulls.remove(name),
            };
        }
        Snapshot { pulls, complete: true }
    }

    /// Its digest.
    pub(super) fn digest(&self) -> String {
        sha256_of(&self.pulls)
    }
}

/// Names of the material members that differ. Facts that could not be read say nothing.
fn differences(before: &Kept, now: &Kept) -> Vec<&'static str> {
    if now.facts.state.is_none() {
        return vec![];
    }
    let own = (before.state != now.state).then_some("state");
    // The state of the program's own is the one people wait for; that of the pull request has another name here.
    let of_pull = before.facts.differences(&now.facts).into_iter();
    own.into_iter().chain(of_pull.map(|name| if name == "state" { "pull" } else { name })).collect()
}

/// Where the last snapshot of a program is kept, locked while the run lasts. Without a home nothing is kept.
#[derive(Debug)]
pub(super) struct SnapshotFile {
    kept: Option<(StateFile, File)>,
    last: Snapshot,
}

impl SnapshotFile {
    /// Opens and locks the file of the program.
    pub(super) fn open(cx: &Cx, program: &Program, request: &RunRequest) -> Result<Self> {
        let Ok(home) = cx.home() else { return Ok(SnapshotFile { kept: None, last: Snapshot::default() }) };
        // The same names mean others on another site.
        let site = github::site(request.settings.api_url.as_deref());
        let file = StateFile::below(home, FOLDER, &sha256_of(&(site, program)), BYTES_MAX)?;
        let lock = file.lock("another process observes this program", "stop it, or wait for its end")?;
        let last = file.read()?.map(|bytes| serde_json::from_slice(&bytes)).transpose().map_err(|_| {
            Error::new(Code::IntegrityError, "the last snapshot of this program cannot be read")
                .with_hint("move it away: the next run begins anew")
        })?;
        Ok(SnapshotFile { kept: Some((file, lock)), last: last.unwrap_or_default() })
    }

    /// The last snapshot.
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.last
    }

    /// Forgets it: a watch without a cursor tells everything.
    pub(super) fn forget(&mut self) -> Result<()> {
        self.last = Snapshot::default();
        self.write()
    }

    /// Keeps a snapshot in its place.
    pub(super) fn keep(&mut self, snapshot: Snapshot) -> Result<()> {
        self.last = snapshot.over(&self.last);
        self.write()
    }

    fn write(&self) -> Result<()> {
        match &self.kept {
            Some((file, _)) => file.write(&serde_json::to_vec(&self.last).map_err(Error::internal)?),
            None => Ok(()),
        }
    }
}
