//! Mode, rotation and age of the files.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn entry(time: &str) -> LogEntry {
    LogEntry {
        run_id: None,
        time: time.parse().unwrap(),
        request_id: "evt_x".to_owned(),
        turn_id: None,
        agent_id: None,
        trace_id: String::new(),
        span_id: String::new(),
        outer_trace_id: None,
        attempt: 1,
        provider: None,
        operation: None,
        method: "GET".to_owned(),
        host: "h".to_owned(),
        port: 443,
        path: "/".to_owned(),
        query_keys: Vec::new(),
        status: Some(200),
        error_code: None,
        phase: None,
        address: None,
        bytes_sent: 0,
        bytes_received: 0,
        duration_ms: 1,
        waited_ms: 0,
        from_cache: false,
        rate: None,
        provider_request_id: None,
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_are_private_and_rotate_by_day_and_size() {
    let dir = tempfile::tempdir().unwrap();
    let log = FileLog::new(dir.path()).bytes_max(1);
    log.append(&entry("2026-11-29T23:59:59.000Z"));
    log.append(&entry("2026-11-29T23:59:59.500Z"));
    log.append(&entry("2026-11-30T00:00:00.000Z"));
    assert_eq!(
        names(dir.path()),
        ["requests-2026-11-29.1.ndjson", "requests-2026-11-29.ndjson", "requests-2026-11-30.ndjson"]
    );
    let path = dir.path().join("requests-2026-11-30.ndjson");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 1);
}

#[test]
fn old_files_go_when_a_new_day_starts() {
    let dir = tempfile::tempdir().unwrap();
    let log = FileLog::new(dir.path()).keep_days(2);
    for day in ["2026-11-01", "2026-11-29", "2026-11-30"] {
        log.append(&entry(&format!("{day}T12:00:00.000Z")));
    }
    assert_eq!(names(dir.path()), ["requests-2026-11-29.ndjson", "requests-2026-11-30.ndjson"]);
}
