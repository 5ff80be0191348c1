//! The index: one line per run in a file per day, appended under a lock.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Payload;

const PREFIX: &str = "index-";
const SUFFIX: &str = ".ndjson";
/// Longest line that is read.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    /// When it ended.
    #[schemars(with = "String")]
    pub time: Timestamp,
    /// Connector.
    pub connector_id: String,
    /// Operation.
    pub operation: String,
    /// Whether it came to its end.
    pub ok: bool,
    /// Code of the failure.
    #[schemars(with = "Option<String>")]
    pub code: Option<Code>,
    /// Items.
    pub item_count: u64,
    /// Payload.
    pub payload_id: String,
    /// Run.
    pub run_id: String,
    /// Turn, if inside one.
    pub turn_id: Option<String>,
    /// Duration.
    pub duration_ms: u64,
    /// When the payload was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub purged_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Run(Row),
    Purged { purged: String, purged_at: Timestamp },
}

impl Row {
    pub(super) fn of(payload: &Payload) -> Self {
        Row {
            time: payload.timings.finished_at,
            connector_id: payload.connector_id.clone(),
            operation: payload.operation.clone(),
            ok: payload.ok,
            code: payload.error.as_ref().map(|error| error.code),
            item_count: payload.item_count,
            payload_id: payload.payload_id.clone(),
            run_id: payload.run_id.clone(),
            turn_id: payload.turn_id.clone(),
            duration_ms: payload.timings.duration_ms,
            purged_at: None,
        }
    }
}

/// Which runs are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Connector.
    pub connector: Option<String>,
    /// Operation.
    pub operation: Option<String>,
    /// Turn.
    pub turn: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Outcome.
    pub ok: Option<bool>,
    /// Most rows.
    pub limit: usize,
}

impl HistoryFilter {
    fn wants(&self, row: &Row) -> bool {
        self.connector.as_ref().is_none_or(|connector| *connector == row.connector_id)
            && self.operation.as_ref().is_none_or(|operation| *operation == row.operation)
            && self.turn.as_ref().is_none_or(|turn| row.turn_id.as_ref() == Some(turn))
            && self.since.is_none_or(|since| row.time >= since)
            && self.ok.is_none_or(|ok| ok == row.ok)
    }
}

/// Appends a row; tells whether it is the first of its day.
pub(super) fn append(root: &Path, row: &Row) -> Result<bool> {
    append_line(root, row.time, &Line::Run(row.clone()))
}

/// Notes that a payload was removed.
pub(super) fn purged(root: &Path, payload_id: &str, now: Timestamp) -> Result<()> {
    append_line(root, now, &Line::Purged { purged: payload_id.to_owned(), purged_at: now }).map(drop)
}

fn append_line(root: &Path, time: Timestamp, line: &Line) -> Result<bool> {
    let path = root.join(format!("{PREFIX}{}{SUFFIX}", time.to_string().get(..10).unwrap_or("unknown")));
    let is_first = !path.exists();
    let mut bytes = serde_json::to_vec(line).map_err(Error::internal)?;
    bytes.push(b'\n');
    let append = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        file.lock()?;
        file.write_all(&bytes)
    };
    append().map_err(|error| Error::new(Code::FileRefused, format!("the index of payloads: {error}")))?;
    Ok(is_first)
}

/// Rows that a filter wants, newest first.
pub(super) fn read(root: &Path, filter: &HistoryFilter) -> Result<Vec<Row>> {
    let mut purged: BTreeMap<String, Timestamp> = BTreeMap::new();
    let mut wanted = Vec::new();
    for path in files(root) {
        let day = day_of(&path);
        let too_early = filter.since.is_some_and(|since| since.to_string().get(..10) > day.as_deref());
        if wanted.len() >= filter.limit || too_early {
            break;
        }
        let mut rows = Vec::new();
        for line in lines(&path)? {
            match line {
                Line::Run(row) => rows.push(row),
                Line::Purged { purged: id, purged_at } => drop(purged.insert(id, purged_at)),
            }
        }
        rows.reverse();
        wanted.extend(rows.into_iter().filter(|row| filter.wants(row)));
    }
    wanted.truncate(filter.limit);
    for row in &mut wanted {
        row.purged_at = purged.get(&row.payload_id).copied();
    }
    Ok(wanted)
}

/// Index files, the newest day first.
fn files(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| day_of(path).is_some()).collect();
    files.sort();
    files.reverse();
    files
}

fn day_of(path: &Path) -> Option<String> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX).map(str::to_owned)
}

/// The lines that can be read; one that was cut off by a crash is passed over.
fn lines(path: &Path) -> Result<Vec<Line>> {
    let file = File::open(path)
        .map_err(|error| Error::new(Code::FileRefused, format!("the index of payloads: {error}")))?;
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    let lines = lines.filter(|line| line.len() <= LINE_BYTES_MAX);
    Ok(lines.filter_map(|line| serde_json::from_slice(&line).ok()).collect())
}
