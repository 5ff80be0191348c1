//! Reports on disk: one private file for each, named by its id, and one that leads from a run to its report.

use std::path::PathBuf;

use loom_domain::{ArtifactId, Code, Error, Result, Timestamp};
use loom_report::Report;
use loom_secrets::private_file::{ensure_private_dir, read_private, write_private};
use serde::{Deserialize, Serialize};

use crate::home::Home;

/// Reports that are listed, and kept.
const REPORTS_MAX: usize = 1_000;
const SUFFIX: &str = ".json";
const DIGEST_PREFIX: &str = "sha256:";

/// A report in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfLine {
    /// Id.
    pub report_id: String,
    /// Profile.
    pub profile: String,
    /// First instant of its window.
    pub start: Timestamp,
    /// The instant after it.
    pub end: Timestamp,
    /// Zone of its days.
    pub zone: String,
    /// Digest.
    pub digest: String,
}

/// The reports below a home.
#[derive(Debug, Clone)]
pub struct Shelf {
    home: PathBuf,
    root: PathBuf,
}

impl Shelf {
    /// Names the folder; makes nothing.
    pub fn new(home: &Home) -> Self {
        Shelf { home: home.root().to_owned(), root: home.join("reports") }
    }

    /// Keeps a report. The document is on disk before the run leads to it.
    pub fn keep(&self, report: &Report) -> Result<()> {
        let id: ArtifactId = report.report_id.parse()?;
        ensure_private_dir(&self.home)?;
        ensure_private_dir(&self.root)?;
        let path = self.root.join(format!("{id}{SUFFIX}"));
        if !path.exists() {
            write_private(&path, &serde_json::to_vec(report).map_err(Error::internal)?)?;
        }
        write_private(&self.run_path(&report.run_key)?, report.report_id.as_bytes())?;
        for surplus in self.ids().into_iter().skip(REPORTS_MAX).filter(|old| *old != report.report_id) {
            let _ = std::fs::remove_file(self.root.join(format!("{surplus}{SUFFIX}")));
        }
        Ok(())
    }

    /// The report that an equal run has made.
    pub fn of_run(&self, run_key: &str) -> Result<Option<Report>> {
        let path = self.run_path(run_key)?;
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let id = String::from_utf8_lossy(&read_private(&path)?).into_owned();
        match self.show(id.trim()) {
            Err(error) if error.code == Code::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// A report by its id, proven whole.
    pub fn show(&self, id: &str) -> Result<Report> {
        let id: ArtifactId = id.parse()?;
        let path = self.root.join(format!("{id}{SUFFIX}"));
        if path.symlink_metadata().is_err() {
            return Err(Error::not_found("report", id.as_str()));
        }
        let report: Report = serde_json::from_slice(&read_private(&path)?).map_err(|_| damaged())?;
        if report.is_whole() { Ok(report) } else { Err(damaged()) }
    }

    /// Every report, the newest window first.
    pub fn list(&self) -> Result<Vec<ShelfLine>> {
        let line = |id: &String| {
            let report = self.show(id).ok()?;
            Some(ShelfLine {
                report_id: report.report_id,
                profile: report.profile,
                start: report.window.start,
                end: report.window.end,
                zone: report.window.zone,
                digest: report.digest,
            })
        };
        Ok(self.ids().iter().take(REPORTS_MAX).filter_map(line).collect())
    }

    /// Ids, the newest window first: an id begins with the end of its window.
    fn ids(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(SUFFIX)?.to_owned())).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids
    }

    fn run_path(&self, run_key: &str) -> Result<PathBuf> {
        let hex =
            run_key.strip_prefix(DIGEST_PREFIX).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        Ok(self.root.join(format!("run-{}", hex.ok_or_else(damaged)?)))
    }
}

fn damaged() -> Error {
    Error::new(Code::IntegrityError, "the stored report does not have the digest that it names")
}
