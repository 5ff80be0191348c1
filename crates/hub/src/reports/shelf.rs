//! Reports on disk: one private file for each, named by its id, and one that leads from a run to its report.

use std::path::PathBuf;

use loom_domain::{ArtifactId, Code, Error, Result, Timestamp};
use loom_report::Report;
use loom_secrets::private_file::{PrivateFile, ensure_private_dir, read_private, write_private};
use serde::{Deserialize, Serialize};

use crate::home::Home;

/// Reports that are listed, and kept.
const REPORTS_MAX: usize = 1_000;
/// Largest document that is read again.
const REPORT_BYTES_MAX: u64 = 64 * 1024 * 1024;
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
    /// Reports that are kept.
    most: usize,
}

impl Shelf {
    /// Names the folder; makes nothing.
    pub fn new(home: &Home) -> Self {
        Shelf { home: home.root().to_owned(), root: home.join("reports"), most: REPORTS_MAX }
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
        for surplus in self.ids().into_iter().skip(self.most).filter(|old| *old != report.report_id) {
            self.remove(&surplus);
        }
        Ok(())
    }

    /// Removes a report, and what leads from its run to it.
    fn remove(&self, id: &str) {
        let run = self.show(id).and_then(|report| self.run_path(&report.run_key));
        let leads_here = |run: &PathBuf| read_private(run).is_ok_and(|bytes| *bytes == *id.as_bytes());
        if let Some(run) = run.ok().filter(leads_here) {
            let _ = std::fs::remove_file(run);
        }
        let _ = std::fs::remove_file(self.root.join(format!("{id}{SUFFIX}")));
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
        let bytes = PrivateFile::open(&path, REPORT_BYTES_MAX)?.read(&path)?;
        let report: Report = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
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

#[cfg(test)]
mod tests {
    use loom_api::request;
    use loom_report::build;

    use super::*;
    use crate::config::ReportSection;
    use crate::reports::{nothing_observed, order_of};

    const DAY_MS: i64 = 24 * 3_600_000;

    /// The report of a day that ended so many days later.
    fn report(days: i64) -> Report {
        let asked = request::Report { window: Some("yesterday".to_owned()), ..request::Report::default() };
        let now = Timestamp(1_800_000_000_000 + days * DAY_MS);
        let order = order_of(&asked, &ReportSection::default(), now).unwrap();
        build(&order, &nothing_observed("nobody asked"), &str::to_owned).unwrap()
    }

    /// CAP-134: above its limit the shelf gives up the oldest windows with all that led to them, never what it just took.
    #[test]
    fn cap_134_the_shelf_keeps_the_newest_windows() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf { most: 3, ..Shelf::new(&Home::new(home.path())) };
        for days in [4, 1, 3, 2] {
            shelf.keep(&report(days)).unwrap();
        }
        let ids = |days: &[i64]| days.iter().map(|days| report(*days).report_id).collect::<Vec<_>>();
        let listed = || shelf.list().unwrap().into_iter().map(|line| line.report_id).collect::<Vec<_>>();
        let files = || std::fs::read_dir(home.path().join("reports")).unwrap().count();
        assert_eq!((listed(), files()), (ids(&[4, 3, 2]), 6));
        assert_eq!(shelf.show(&report(1).report_id).unwrap_err().code, Code::NotFound);
        assert_eq!(shelf.of_run(&report(1).run_key).unwrap(), None);
        assert_eq!(shelf.of_run(&report(2).run_key).unwrap(), Some(report(2)));
        shelf.keep(&report(0)).unwrap();
        assert_eq!(shelf.of_run(&report(0).run_key).unwrap(), Some(report(0)), "it was asked for just now");
        shelf.keep(&report(5)).unwrap();
        assert_eq!((listed(), files()), (ids(&[5, 4, 3]), 6));
        shelf.keep(&report(5)).unwrap();
        assert_eq!(listed(), ids(&[5, 4, 3]), "the same report is the same file");
    }

    /// CAP-134: a report of a busy window is larger than a credential may be, and is found again all the same.
    #[test]
    fn cap_134_a_large_report_is_found_again() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(&Home::new(home.path()));
        let now = Timestamp(1_800_000_000_000);
        let mut order = order_of(&request::Report::default(), &ReportSection::default(), now).unwrap();
        order.profile.name = "busy".repeat(25_000);
        let large = build(&order, &nothing_observed("nobody asked"), &str::to_owned).unwrap();
        shelf.keep(&large).unwrap();
        assert_eq!(shelf.of_run(&large.run_key).unwrap(), Some(large));
    }
}
