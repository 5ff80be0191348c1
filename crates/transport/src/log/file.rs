//! The request log on disk: `requests-DATE.ndjson`, mode 0600, rotated by day and size.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use loom_domain::Timestamp;

use super::{LogEntry, RequestLog};

/// Size at which a file is rotated.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Default number of days that files are kept.
const KEEP_DAYS: u32 = 14;
/// Rotations of one day; beyond it the last file grows.
const ROTATIONS_MAX: u32 = 1_000;
const DAY_MS: i64 = 86_400_000;

/// The request log on disk.
#[derive(Debug)]
pub struct FileLog {
    dir: PathBuf,
    keep_days: u32,
    bytes_max: u64,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    date: String,
    file: File,
    bytes: u64,
}

impl FileLog {
    /// Logs into `dir`, which is made when the first line is written.
    pub fn new(dir: &Path) -> Self {
        FileLog {
            dir: dir.to_owned(),
            keep_days: KEEP_DAYS,
            bytes_max: FILE_BYTES_MAX,
            open: Mutex::new(None),
        }
    }

    /// Keeps files for that many days.
    pub fn keep_days(mut self, days: u32) -> Self {
        self.keep_days = days.clamp(1, 365);
        self
    }

    #[cfg(test)]
    fn bytes_max(mut self, bytes: u64) -> Self {
        self.bytes_max = bytes;
        self
    }

    fn write(&self, entry: &LogEntry) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let date = date_of(entry.time);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |o: &Open| o.date == date && o.bytes < self.bytes_max;
        if !open.as_ref().is_some_and(fits) {
            *open = Some(self.start(&date, entry.time)?);
        }
        if let Some(open) = open.as_mut() {
            open.file.write_all(&line)?;
            open.bytes += line.len() as u64;
        }
        Ok(())
    }

    fn start(&self, date: &str, now: Timestamp) -> std::io::Result<Open> {
        // The data root may be made here, and it is its owner's alone.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        self.remove_old(now)?;
        let path = (0..ROTATIONS_MAX).map(|n| self.dir.join(file_name(date, n))).find(|p| self.has_room(p));
        let path = path.unwrap_or_else(|| self.dir.join(file_name(date, ROTATIONS_MAX)));
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Open { date: date.to_owned(), file, bytes })
    }

    fn has_room(&self, path: &Path) -> bool {
        fs::metadata(path).map_or(true, |m| m.len() < self.bytes_max)
    }

    fn remove_old(&self, now: Timestamp) -> std::io::Result<()> {
        let oldest = date_of(Timestamp(now.0 - i64::from(self.keep_days) * DAY_MS));
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let date = name.to_str().and_then(|n| n.strip_prefix("requests-")).and_then(|n| n.get(..10));
            if date.is_some_and(|d| d < oldest.as_str()) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl RequestLog for FileLog {
    fn append(&self, entry: &LogEntry) {
        if let Err(error) = self.write(entry) {
            tracing::warn!(kind = ?error.kind(), "the request log cannot be written");
        }
    }
}

fn date_of(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

fn file_name(date: &str, rotation: u32) -> String {
    match rotation {
        0 => format!("requests-{date}.ndjson"),
        n => format!("requests-{date}.{n}.ndjson"),
    }
}

#[cfg(test)]
mod tests;
