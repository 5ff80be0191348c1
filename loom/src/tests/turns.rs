//! Turns and plans of them on the command line, without a network and without a hub.

use std::path::Path;

use serde_json::json;

use super::{Ran, run_in};
use crate::environment::Environment;

fn at(home: &Path, words: &[&str]) -> Ran {
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.join("home").to_string_lossy().into_owned());
    run_in(env, words)
}

/// CAP-002: the line of the guide, word for word; where no program is, the plan says so and ends well.
#[test]
fn cap_002_a_host_is_planned_for() {
    let dir = tempfile::tempdir().unwrap();
    let line = ["host-mode-plan", "--host", "opencode", "--connector", "github_public_probe"];
    let ran = at(dir.path(), &[&line[..], &["--format", "json"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let plan = ran.json();
    assert_eq!(plan["schema_version"], "loom.host_mode_plan/v1");
    assert_eq!(plan["connectors"][0]["connector"]["schema_version"], "loom.catalog_entry/v1");
    assert_eq!(
        (&plan["host"]["found"], &plan["readiness"]["status"]),
        (&json!(false), &json!("missing_tool"))
    );
    assert!(ran.out.starts_with("{\n  \"schema_version\": \"loom.host_mode_plan/v1\""), "{}", ran.out);
    assert_eq!(at(dir.path(), &[&line[..], &["--require-ready"]].concat()).exit, 1);
    assert!(at(dir.path(), &line).out.contains("not found"));
    assert!(!dir.path().join("home").exists());
}

/// CAP-002, CAP-011: an unknown connector is exit 1, an unknown host exit 2, each with what was meant.
#[test]
fn cap_002_what_is_unknown_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let unknown = at(dir.path(), &["host-mode-plan", "--connector", "github_public_prob", "--json"]);
    assert_eq!((unknown.exit, unknown.code().as_str()), (1, "connector_not_found"), "{}", unknown.out);
    assert_eq!(unknown.json()["error"]["detail"]["nearest"][0], "github_public_probe");
    let host = at(dir.path(), &["host-mode-plan", "--host", "opencod", "--json"]);
    assert_eq!((host.exit, host.code().as_str()), (2, "usage"), "{}", host.out);
    let named =
        at(dir.path(), &["host-mode-plan", "--host-identity", "codex-cli", "--no-detect", "--json"]).json();
    assert_eq!((&named["host"]["id"], &named["host"]["name"]), (&json!("codex"), &json!("codex-cli")));
    let pi =
        ["host-mode-plan", "--host", "generic", "--host-name", "pi", "--intent", "watch_each_turn", "--json"];
    let pi = at(dir.path(), &pi).json();
    assert_eq!((&pi["host"]["name"], &pi["mode"]), (&json!("pi"), &json!("visible")));
}

/// CAP-006: the bare command shows every host, and writes nothing.
#[test]
fn cap_006_the_bare_plan_is_an_overview() {
    let dir = tempfile::tempdir().unwrap();
    let ran = at(dir.path(), &["host-mode-plan"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 6, "{}", ran.out);
    assert_eq!(at(dir.path(), &["host-mode-plan", "--json"]).json()["hosts"][5]["host"]["id"], "http");
    assert!(!dir.path().join("home").exists());
}

/// CAP-006, CAP-126: a Turn runs without a hub; its key is one Turn; show, list and resume find it.
#[test]
fn cap_126_a_turn_runs_and_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let empty = at(dir.path(), &["turn"]);
    assert_eq!((empty.exit, dir.path().join("home").exists()), (0, false), "{}", empty.err);
    let line = ["turn", "run", "--connector", "github-public-probe", "--turn-key", "k1", "--json"];
    let ran = at(dir.path(), &line);
    assert_eq!(ran.exit, 0, "{} {}", ran.out, ran.err);
    let turn = ran.json();
    assert_eq!((&turn["schema_version"], &turn["state"]), (&json!("loom.turn/v1"), &json!("completed")));
    assert_eq!(turn["payloads"][0]["connector_id"], "github_public_probe");
    let id = turn["turn_id"].as_str().unwrap();
    assert_eq!(at(dir.path(), &line).json()["turn_id"], id);
    let other =
        at(dir.path(), &["turn", "run", "--connector", "finance_probe", "--turn-key", "k1", "--json"]);
    assert_eq!((other.exit, other.code().as_str()), (1, "invalid_input"));
    let shown = at(dir.path(), &["turn", "show", id, "--journal", "--json"]).json();
    let kinds: Vec<&str> =
        shown["journal"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["planned", "connector_started", "connector_done", "committed"]);
    assert_eq!(shown["payloads"][0]["turn_id"], id);
    assert_eq!(at(dir.path(), &["turn", "list", "--json"]).json()["items"][0]["turn_id"], id);
    assert_eq!(at(dir.path(), &["turn", "resume", id]).exit, 0);
    assert_eq!(at(dir.path(), &["turn", "cancel", id, "--json"]).json()["state"], "completed");
    let gone = at(dir.path(), &["turn", "show", "trn_01arz3ndektsv4rrffq69g5fav", "--json"]);
    assert_eq!((gone.exit, gone.code().as_str()), (1, "not_found"));
}

/// CAP-011: what cannot run leaves no journal; a plan and a dry run write nothing.
#[test]
fn cap_011_an_unknown_connector_leaves_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let unknown = at(dir.path(), &["turn", "run", "--connector", "github_public_prob", "--json"]);
    assert_eq!((unknown.exit, unknown.code().as_str()), (1, "connector_not_found"), "{}", unknown.out);
    let plan =
        at(dir.path(), &["turn", "plan", "--connector", "finance_probe={\"ticker\": \"AAPL\"}", "--json"]);
    assert_eq!(plan.json()["schema_version"], "loom.turn_plan/v1", "{}", plan.out);
    assert_eq!(plan.json()["connectors"][0]["connector"]["id"], "finance_probe");
    let dry = at(dir.path(), &["turn", "run", "--connector", "finance_probe", "--dry-run", "--json"]);
    assert_eq!((dry.exit, &dry.json()["turn_id"]), (0, &json!(null)));
    let nothing = at(dir.path(), &["turn", "run", "--json"]);
    assert_eq!((nothing.exit, nothing.code().as_str()), (1, "invalid_input"));
    assert!(!dir.path().join("home").exists());
}

/// CAP-127: a Turn in other hands is exit 5, a broken journal exit 6.
#[test]
fn cap_127_a_held_turn_and_a_broken_one() {
    let dir = tempfile::tempdir().unwrap();
    let turn = at(dir.path(), &["turn", "run", "--connector", "finance_probe", "--json"]).json();
    let id = turn["turn_id"].as_str().unwrap();
    let path = dir.path().join(format!("home/turns/{id}.ndjson"));
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let locked = at(dir.path(), &["turn", "resume", id, "--json"]);
    assert_eq!((locked.exit, locked.code().as_str()), (5, "locked"), "{}", locked.out);
    held.unlock().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("completed", "failed", 1)).unwrap();
    for command in ["resume", "show"] {
        let broken = at(dir.path(), &["turn", command, id, "--json"]);
        assert_eq!((broken.exit, broken.code().as_str()), (6, "integrity_error"), "{}", broken.out);
    }
}

/// A Turn that fails ends with the status of its error, and streams its rows.
#[test]
fn a_failed_turn_ends_with_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let line = ["turn", "run", "--connector", "finance_probe={\"ticker\":\"AAPL\"}", "--format", "ndjson"];
    let ran = at(dir.path(), &line);
    assert_eq!(ran.exit, 1, "{}", ran.out);
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["row"]["kind"], "planned");
    let end = lines.last().unwrap();
    assert_eq!((&end["type"], &end["turn"]["error"]["code"]), (&json!("end"), &json!("contact_required")));
}

/// CAP-006: without a hub the bare command says so, and ends well; what needs the hub is exit 7.
#[test]
fn cap_006_loops_need_the_hub_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let bare = at(dir.path(), &["multi-agent", "--json"]);
    assert_eq!((bare.exit, &bare.json()["hub"]), (0, &json!("not_running")), "{}", bare.err);
    assert_eq!(at(dir.path(), &["multi-agent"]).exit, 0);
    let list = at(dir.path(), &["multi-agent", "list", "--json"]);
    assert_eq!((list.exit, list.code().as_str()), (7, "hub_unreachable"));
    std::fs::write(dir.path().join("ask.md"), "Say what this is.").unwrap();
    let ask = dir.path().join("ask.md").display().to_string();
    let line =
        ["turn", "run", "--connector", "finance_probe", "--agent", "docs", "--prompt-file", &ask, "--json"];
    let agent = at(dir.path(), &line);
    assert_eq!((agent.exit, agent.code().as_str()), (7, "hub_unreachable"), "{}", agent.out);
    assert!(!dir.path().join("home").exists());
}
