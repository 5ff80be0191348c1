//! Connectors on the command line, without a network and without a hub.

use std::io::{Read as _, Write as _};
use std::path::Path;

use loom_twins::github::{GithubTwin, Repo};
use serde_json::Value;

use super::{Ran, run_in};
use crate::environment::Environment;

const ISSUE: &str = "https://github.com/owner/repo/issues/123";
const PROBE: [&str; 4] = ["value-connectors", "github-public-probe", "--url", ISSUE];

fn at(home: &Path, words: &[&str]) -> Ran {
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.join("home").to_string_lossy().into_owned());
    run_in(env, words)
}

fn alone(words: &[&str]) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    at(dir.path(), words)
}

fn with(words: &[&str], more: &[&str]) -> Ran {
    alone(&[words, more].concat())
}

/// CAP-001: an address alone gives one document; the same under every spelling of the command.
#[test]
fn cap_001_a_probe_prints_one_document() {
    let ran = with(&PROBE, &["--format", "json"]);
    assert_eq!(
        (ran.exit, ran.json()["connector_id"].as_str()),
        (0, Some("github_public_probe")),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["effects"]["requests_sent"], 0);
    assert!(ran.out.starts_with("{\n  \"schema_version\": \"loom.value_payload/v1\""), "{}", ran.out);
    for words in [
        ["capability", "run", "github_public_probe", "--url", ISSUE],
        ["value-connectors", "probe", "github_public_channel", "--url", ISSUE],
    ] {
        let same = with(&words, &["--json"]).json();
        assert_eq!(same["content_digest"], ran.json()["content_digest"], "{words:?}");
    }
}

/// CAP-006: bare groups show an overview without a hub, and write nothing.
#[test]
fn cap_006_bare_groups_are_an_overview() {
    for group in ["value-connectors", "capability"] {
        let dir = tempfile::tempdir().unwrap();
        let ran = at(dir.path(), &[group]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        assert!(ran.out.contains("github_public_probe"), "{}", ran.out);
        assert!(!dir.path().join("home").exists());
    }
}

/// CAP-009: every connector has its subcommand, and answers `probe`.
#[test]
fn cap_009_every_connector_answers_probe() {
    let list = alone(&["value-connectors", "list", "--json"]).json();
    for entry in list["items"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        // A connector may have a `--json` of its own.
        let ran = alone(&["value-connectors", "probe", id, "--format", "json"]);
        assert_eq!((ran.exit, ran.json()["connector_id"].as_str()), (0, Some(id)), "{id}: {}", ran.out);
        assert!(ran.json()["fields"]["readiness"]["status"].is_string());
        let help = alone(&["value-connectors", &id.replace('_', "-"), "--help"]);
        assert_eq!(help.exit, 0, "{id}: {}", help.err);
        assert!(help.out.contains("Examples:\n"), "{}", help.out);
        assert!(help.out.lines().all(|line| line.chars().count() <= 80), "{}", help.out);
    }
}

/// CAP-011: an unknown id names the nearest ones and leaves nothing behind.
#[test]
fn cap_011_an_unknown_connector_names_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let ran = at(dir.path(), &["value-connectors", "github-public-prob", "--json"]);
    assert_eq!((ran.exit, ran.code()), (1, "connector_not_found".to_owned()));
    assert_eq!(ran.json()["error"]["detail"]["nearest"][0], "github_public_probe");
    assert!(!dir.path().join("home").exists());
    assert_eq!(alone(&["capability", "run", "nothing-like-it", "--json"]).code(), "capability_not_found");
}

/// CAP-016: flags, JSON, YAML and standard input give the same plan, and a flag beats the file.
#[test]
fn cap_016_every_form_gives_the_same_plan() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let yaml = format!(
        "schema_version: loom.connector_config/v1\nconnector: github-public-probe\ninput:\n  url: {ISSUE}\n"
    );
    let json = format!(
        r#"{{"schema_version":"loom.connector_config/v1","connector":"github_public_probe","input":{{"url":"{ISSUE}"}}}}"#
    );
    let (yaml, json) = (file("a.yaml", &yaml), file("a.json", &json));
    let digest = |words: &[&str]| {
        let ran =
            with(&["value-connectors", "github-public-probe"], &[words, &["--dry-run", "--json"]].concat());
        assert_eq!(ran.exit, 0, "{} {}", ran.out, ran.err);
        ran.json()["plan_digest"].as_str().unwrap().to_owned()
    };
    let flags = digest(&["--url", ISSUE]);
    assert_eq!(digest(&["--config", &yaml]), flags);
    assert_eq!(digest(&["--config", &json]), flags);
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), "/nonexistent-loom-home".into());
    env.stdin.reader = Box::new(std::io::Cursor::new(std::fs::read(&yaml).unwrap()));
    let piped =
        run_in(env, &["value-connectors", "github-public-probe", "--config", "-", "--dry-run", "--json"]);
    assert_eq!(piped.json()["plan_digest"], flags.as_str());
    let other = "https://github.com/owner/repo/issues/124";
    assert_eq!(digest(&["--config", &yaml, "--url", other]), digest(&["--url", other]));
}

/// CAP-017: what `--print-config` prints gives the same plan.
#[test]
fn cap_017_a_printed_configuration_runs_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let printed = with(&PROBE, &["--print-config", "--json"]);
    let path = dir.path().join("printed.json");
    std::fs::write(&path, &printed.out).unwrap();
    let path = path.to_string_lossy().into_owned();
    let from_file = ["value-connectors", "github-public-probe", "--config", &path];
    let plan = |words: &[&str]| with(words, &["--dry-run", "--json"]).json()["plan_digest"].clone();
    assert_eq!(plan(&from_file), plan(&PROBE));
    let digest = |words: &[&str]| with(words, &["--json"]).json()["content_digest"].clone();
    assert_eq!(digest(&from_file), digest(&PROBE));
}

/// CAP-018: a file that breaks a rule is refused, and nothing runs.
#[test]
fn cap_018_broken_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let head = "schema_version: loom.connector_config/v1\nconnector: github_public_probe\n";
    for (text, mark) in [
        (format!("{head}unknown: 1\n"), "pointer"),
        (format!("{head}input: &x {{url: a}}\n"), "line"),
        (format!("{head}connector: github_public_probe\n"), "line"),
        (format!("{head}input: {{url: \"{}\"}}\n", "x".repeat(257 * 1024)), "pointer"),
    ] {
        let path = dir.path().join("broken.yaml");
        std::fs::write(&path, text).unwrap();
        let ran = at(
            dir.path(),
            &["value-connectors", "github-public-probe", "--config", &path.to_string_lossy(), "--json"],
        );
        assert_eq!((ran.exit, ran.code()), (1, "invalid_input".to_owned()), "{}", ran.out);
        assert!(!ran.json()["error"]["detail"][mark].is_null(), "{}", ran.out);
        assert!(!dir.path().join("home").exists());
    }
}

/// CAP-020: a dry run keeps nothing and counts no effect.
#[test]
fn cap_020_a_dry_run_keeps_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let ran = at(dir.path(), &[&PROBE[..], &["--fetch-metadata", "--dry-run", "--json"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.out);
    assert_eq!(ran.json()["requests"][0]["method"], "GET");
    assert_eq!(ran.json()["effects"]["state_written"], false);
    assert!(!dir.path().join("home").exists());
}

/// CAP-022: a usage error is one short document that names the nearest flag.
#[test]
fn cap_022_usage_errors_are_short() {
    let ran = alone(&["value-connectors", "github-public-probe", "--urls", ISSUE, "--format", "json"]);
    assert_eq!((ran.exit, ran.code()), (2, "usage".to_owned()), "{}", ran.out);
    assert!(ran.out.len() <= 2 * 1024 && ran.out.contains("--url"), "{}", ran.out);
    let range = with(&PROBE, &["--timeout-seconds", "1e9", "--json"]);
    assert_eq!((range.exit, range.code()), (2, "usage".to_owned()), "CAP-042: {}", range.out);
}

/// CAP-023: the form may stand before, between and behind the words; people see no literals of a language.
#[test]
fn cap_023_the_form_stands_anywhere() {
    for words in [
        [&["--format", "json"][..], &PROBE].concat(),
        [&PROBE[..1], &["--format=json"], &PROBE[1..]].concat(),
        [&PROBE[..2], &["--output", "json"], &PROBE[2..]].concat(),
        [&PROBE[..], &["--json"]].concat(),
    ] {
        let ran = alone(&words);
        assert_eq!((ran.exit, ran.json()["ok"].as_bool()), (0, Some(true)), "{words:?}: {}", ran.err);
    }
    let people = alone(&PROBE);
    assert!(people.out.contains("ref.number") && !people.out.contains("null"), "{}", people.out);
}

/// CAP-029: lines have numbers without holes, and the last one is the end.
#[test]
fn cap_029_ndjson_has_no_holes() {
    let ran = with(&PROBE, &["--format", "ndjson"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seq: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (0..lines.len() as u64).collect::<Vec<_>>());
    assert_eq!((&lines[0]["type"], &lines.last().unwrap()["type"]), (&"start".into(), &"end".into()));
    let items = lines.iter().filter(|line| line["type"] == "item").count();
    assert_eq!(lines.last().unwrap()["item_count"], items);
}

/// CAP-028, CAP-071, CAP-073: what was printed is kept, shown and listed; what was not kept is absent.
#[test]
fn cap_028_what_is_printed_is_what_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let printed = at(dir.path(), &[&PROBE[..], &["--json"]].concat()).json();
    at(dir.path(), &[&PROBE[..], &["--no-save", "--json"]].concat());
    let id = printed["payload_id"].as_str().unwrap();
    let shown = at(dir.path(), &["value-connectors", "show", id, "--verify", "--json"]);
    assert_eq!(shown.json(), printed, "{}", shown.err);
    let listed = at(dir.path(), &["value-connectors", "history", "--json"]).json();
    assert_eq!(
        (listed["items"].as_array().unwrap().len(), &listed["items"][0]["payload_id"]),
        (1, &printed["payload_id"])
    );
    let told =
        at(dir.path(), &["value-connectors", "history", "prune", "--before", "0s", "--dry-run", "--json"]);
    assert!(told.exit == 0 || told.exit == 2, "{}", told.out);
}

/// CAP-075: a broken address is refused with its rule.
#[test]
fn cap_075_broken_addresses_are_refused() {
    for (url, rule) in
        [("http://github.com/o/r/issues/1", "scheme"), ("https://github.com/o/r/issues/1/", "path")]
    {
        let ran = alone(&["value-connectors", "github-public-probe", "--url", url, "--json"]);
        assert_eq!((ran.exit, ran.code()), (1, "invalid_url".to_owned()), "{}", ran.out);
        assert_eq!(ran.json()["error"]["detail"]["rule"], rule);
    }
}

/// CAP-019: a literal token on the command line is refused and not repeated.
#[test]
fn cap_019_a_literal_token_is_refused() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let ran = with(&PROBE, &["--credential-ref", &token, "--json"]);
    assert_eq!((ran.exit, ran.code()), (1, "secret_in_input".to_owned()), "{}", ran.out);
    assert!(!ran.out.contains("a1B2a1B2") && !ran.err.contains("a1B2a1B2"));
}

/// The checks and maps that an agent starts with.
#[test]
fn install_check_and_source_map_answer_without_a_network() {
    let check = alone(&["value-connectors", "install-check", "--json"]);
    assert_eq!((check.exit, &check.json()["effects"]["requests_sent"]), (0, &0.into()), "{}", check.out);
    let map =
        alone(&["value-connectors", "source-map", "--connector", "github-public-probe", "--json"]).json();
    assert_eq!(map["connectors"][0]["operations"][0]["output_fields"][0], "metadata");
}

/// CAP-121: a source map is validated, tested, installed, run and removed; a broken one is told with its place.
#[test]
fn cap_121_a_source_map_goes_its_way() {
    let dir = tempfile::tempdir().unwrap();
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let example = &format!("{here}/../docs/examples/status_incidents.yaml");
    let run = |words: &[&str]| at(dir.path(), &[&["value-connectors"], words].concat());
    let valid = run(&["validate", example, "--json"]);
    assert_eq!((valid.exit, &valid.json()["ok"]), (0, &Value::Bool(true)), "{}", valid.err);
    let tested = run(&["test", example]);
    assert!(tested.exit == 0 && tested.out.contains("ok   incidents:"), "{}{}", tested.out, tested.err);
    assert_eq!(run(&["add", example, "--dry-run"]).exit, 0);
    assert!(!dir.path().join("home/connectors").exists());
    let added = run(&["add", example, "--json"]);
    assert_eq!(
        (added.exit, added.json()["object"]["id"].as_str()),
        (0, Some("status_incidents")),
        "{}",
        added.err
    );
    assert!(run(&["list"]).out.contains("status_incidents"));
    let plan = run(&["status-incidents", "incidents", "--page", "abcd1234", "--dry-run", "--json"]);
    assert_eq!(plan.exit, 0, "{}", plan.err);
    assert_eq!(run(&["remove", "status_incidents"]).exit, 0);
    assert_eq!(run(&["remove", "status_incidents"]).exit, 1);

    let broken = dir.path().join("broken.yaml");
    let text =
        std::fs::read_to_string(example).unwrap().replace("boundary: private_read", "boundary: everything");
    std::fs::write(&broken, text).unwrap();
    let refused = run(&["validate", broken.to_str().unwrap()]);
    assert!(refused.exit == 1 && refused.out.contains("/boundary"), "{}{}", refused.out, refused.err);
}

/// CAP-121: a live test asks its service once, after the tests that send nothing, and gives one document.
#[test]
fn cap_121_a_live_test_asks_the_service_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4_096];
        let read = stream.read(&mut head).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 17\r\nconnection: close\r\n\r\n{\"name\":\"Lisbon\"}";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..read]).lines().next().unwrap().to_owned()
    });
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("map.json");
    let url = "https://api.weather.example/v1/places/{place}";
    let answer = serde_json::json!({"status": 200, "json": {"name": "Porto"}});
    let map = serde_json::json!({
        "schema_version": "loom.source_map/v1", "id": "place_now", "version": "1.0.0", "title": "A place",
        "boundary": "public_content", "inputs": {
            "type": "object", "additionalProperties": false, "required": ["place"],
            "properties": {"place": {"type": "string", "pattern": "^[a-z]{2,40}$", "maxLength": 40}},
        },
        "egress": {"hosts": [{"host": "api.weather.example", "methods": ["GET"]}]},
        "operations": [{
            "id": "probe", "effect": "read", "request": {"method": "GET", "url": url},
            "projection": "{place: .name}", "fields": {"place": {"type": "string", "max": 80, "required": true}},
        }],
        "tests": [{
            "name": "a place", "operation": "probe", "input": {"place": "porto"},
            "exchanges": [{"request": {"path": "/v1/places/porto"}, "response": answer}],
            "expect": {"ok": true, "requests": 1, "fields": {"place": "Porto"}},
        }],
    });
    std::fs::write(&file, map.to_string()).unwrap();
    let line = ["value-connectors", "test", file.to_str().unwrap(), "--json"];
    let without = at(dir.path(), &line);
    assert_eq!((without.exit, &without.json()["live"]), (0, &Value::Null), "{}{}", without.out, without.err);
    let ran = at(dir.path(), &[&line[..], &["--live", "--api-url", &base]].concat());
    assert_eq!((ran.exit, &ran.json()["live"]["fields"]["place"]), (0, &"Lisbon".into()), "{}", ran.err);
    assert_eq!(served.join().unwrap(), "GET /v1/places/porto HTTP/1.1");
    assert_eq!(at(dir.path(), &[&line[..], &["--api-url", &base]].concat()).exit, 2);
}

/// CAP-047: a second process asks whether what is kept still holds; `--refresh` reads everything anew.
#[test]
fn cap_047_refresh_and_no_cache_reach_the_service() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let repo = Repo::new("acme/tool").open_pulls(3);
    let twin = runtime.block_on(GithubTwin::builder().repo(repo).start()).unwrap();
    let (dir, base) = (tempfile::tempdir().unwrap(), twin.base_url());
    let line = ["capability", "run", "pr_review", "--repo", "acme/tool", "--detail", "list", "--json"];
    let line = [&line[..], &["--api-url", base.as_str()]].concat();
    let mut digests = Vec::new();
    for (more, status) in [
        (&[][..], 200),
        (&[], 304),
        (&["--refresh"], 200),
        (&["--no-cache"], 304),
        (&["--no-cache", "--refresh"], 200),
    ] {
        twin.clear_requests();
        let ran = at(dir.path(), &[&line[..], more].concat());
        assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
        digests.push(ran.json()["content_digest"].clone());
        let statuses: Vec<_> = twin.requests().iter().map(|request| request.status).collect();
        assert_eq!(statuses, [Some(status)], "{more:?}");
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}
