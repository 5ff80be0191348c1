//! Reading the request log of a data root, the newest lines first.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use loom_domain::Timestamp;
use serde_json::Value;

/// Longest line that is read; Loom writes shorter ones.
const LINE_BYTES_MAX: u64 = 256 * 1024;

/// Which lines are wanted; what is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Id of the Turn.
    pub turn_id: Option<String>,
    /// Id of the run.
    pub run_id: Option<String>,
    /// Host, in lower case.
    pub host: Option<String>,
    /// Earliest time.
    pub since: Option<Timestamp>,
    /// Id of the request.
    pub request_id: Option<String>,
}

impl Wanted {
    fn holds(&self, line: &Value) -> bool {
        let is = |member: &str, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| line.get(member).and_then(Value::as_str) == Some(wanted))
        };
        let time =
            || line.get("time").and_then(Value::as_str).and_then(|time| time.parse::<Timestamp>().ok());
        is("turn_id", &self.turn_id)
            && is("run_id", &self.run_id)
            && is("host", &self.host)
            && is("request_id", &self.request_id)
            && self.since.is_none_or(|since| time().is_some_and(|time| time >= since))
    }
}

/// The newest attempts, at most `limit`, the newest first. Damaged lines are passed over; without a log there are none.
pub fn latest(dir: &Path, wanted: &Wanted, limit: usize) -> io::Result<Vec<Value>> {
    let mut found = Vec::new();
    for path in files(dir)? {
        let left = limit.saturating_sub(found.len());
        if left == 0 {
            break;
        }
        found.extend(last_of(&path, wanted, left)?.into_iter().rev());
    }
    Ok(found)
}

/// Every attempt of one request, in order.
pub fn find(dir: &Path, request_id: &str) -> io::Result<Vec<Value>> {
    /// More attempts than any call makes, redirects included.
    const ATTEMPTS_MAX: usize = 1_000;
    let wanted = Wanted { request_id: Some(request_id.to_owned()), ..Wanted::default() };
    let mut found = latest(dir, &wanted, ATTEMPTS_MAX)?;
    found.reverse();
    Ok(found)
}

/// The last lines of a file that are wanted, in their order.
fn last_of(path: &Path, wanted: &Wanted, limit: usize) -> io::Result<VecDeque<Value>> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut last, mut line) = (VecDeque::new(), Vec::new());
    loop {
        line.clear();
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(last);
        }
        let Ok(value) = serde_json::from_slice::<Value>(&line) else { continue };
        if value.is_object() && wanted.holds(&value) {
            if last.len() >= limit {
                last.pop_front();
            }
            last.push_back(value);
        }
    }
}

/// The files of the log, the newest first.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some(order) = entry.file_name().to_str().and_then(order_of) {
            files.push((order, entry.path()));
        }
    }
    files.sort_by(|a, b| b.0.cmp(&a.0));
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// Date and rotation out of a file name.
fn order_of(name: &str) -> Option<(String, u32)> {
    let middle = name.strip_prefix("requests-")?.strip_suffix(".ndjson")?;
    let (date, rotation) = match middle.split_once('.') {
        Some((date, rotation)) => (date, rotation.parse().ok()?),
        None => (middle, 0),
    };
    Some((date.to_owned(), rotation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, name: &str, lines: &[(&str, &str)]) {
        let line = |(id, host): &(&str, &str)| {
            format!(
                "{{\"time\":\"2026-11-30T06:00:0{id}.000Z\",\"request_id\":\"{id}\",\"host\":\"{host}\",\"turn_id\":null}}\n"
            )
        };
        fs::write(dir.join(name), lines.iter().map(line).collect::<Vec<_>>().concat()).unwrap();
    }

    fn ids(found: &[Value]) -> Vec<&str> {
        found.iter().map(|line| line["request_id"].as_str().unwrap()).collect()
    }

    #[test]
    fn the_newest_lines_come_first_over_days_and_rotations() {
        let dir = tempfile::tempdir().unwrap();
        assert!(latest(&dir.path().join("gone"), &Wanted::default(), 9).unwrap().is_empty());
        write(dir.path(), "requests-2026-11-29.ndjson", &[("1", "a"), ("2", "b")]);
        write(dir.path(), "requests-2026-11-30.ndjson", &[("3", "a")]);
        write(dir.path(), "requests-2026-11-30.2.ndjson", &[("4", "b"), ("3", "a")]);
        fs::write(dir.path().join("requests-2026-11-30.1.ndjson"), "no json\n[]\n").unwrap();
        fs::write(dir.path().join("loom.log"), "{}").unwrap();
        let read = |wanted: &Wanted, limit| latest(dir.path(), wanted, limit).unwrap();
        assert_eq!(ids(&read(&Wanted::default(), 9)), ["3", "4", "3", "2", "1"]);
        assert_eq!(ids(&read(&Wanted::default(), 2)), ["3", "4"]);
        let host = Wanted { host: Some("b".into()), ..Wanted::default() };
        assert_eq!(ids(&read(&host, 9)), ["4", "2"]);
        let since = Wanted { since: Some("2026-11-30T06:00:03.000Z".parse().unwrap()), ..Wanted::default() };
        assert_eq!(ids(&read(&since, 9)), ["3", "4", "3"]);
        let turn = Wanted { turn_id: Some("trn_1".into()), ..Wanted::default() };
        assert!(read(&turn, 9).is_empty());
        assert_eq!(find(dir.path(), "3").unwrap().len(), 2);
        assert!(find(dir.path(), "9").unwrap().is_empty());
    }
}
