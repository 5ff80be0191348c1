//! Official Slack clients against the Slack twin: what they accept is what a real service would have to send.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use loom_twins::slack::{Config, SlackTwin};
use serde_json::Value;
use tokio::process::Command;

/// Longest run of one client; the Node client alone pauses up to 12 s before it reconnects.
const CLIENT_LIMIT: Duration = Duration::from_secs(90);
const INSTALL_HINT: &str = "official clients are not installed: run scripts/test once (npm ci, pip install)";

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers")
}

/// Runs one client script against a fresh twin and returns its result line.
async fn run(program: &Path, script: &str, installed: &Path) -> Value {
    assert!(installed.exists(), "{INSTALL_HINT}");
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    let mut command = Command::new(program);
    command.arg(peers().join(script)).arg(twin.origin()).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(CLIENT_LIMIT, command.output()).await.unwrap().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script} failed\n{out}\n{err}");
    let line = out.lines().rfind(|line| line.starts_with('{')).unwrap();
    let result: Value = serde_json::from_str(line).unwrap();
    assert_eq!(result["ok"], true, "{line}");
    check_ledger(&twin);
    twin.shutdown().await;
    result
}

/// The twin's own view of a finished run.
fn check_ledger(twin: &SlackTwin) {
    let ledger = twin.ledger();
    let texts: Vec<&str> = ledger.by_app().map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["answer", "", "after 429"]);
    assert!(ledger.by_app().all(|m| m.thread_ts.as_deref() == Some(ledger.messages[0].ts.as_str())));
    let counters = twin.counters();
    assert!(counters.unacked.is_empty() && counters.given_up.is_empty());
    assert_eq!((counters.sockets_total, counters.calls["chat.postMessage"]), (2, 4));
    let statuses: Vec<u16> = twin.requests_of("chat.postMessage").iter().map(|r| r.status).collect();
    assert_eq!(statuses, [200, 200, 429, 200]);
}

async fn node(script: &str) -> Value {
    run(Path::new("node"), script, &peers().join("node_modules/@slack")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_node_sdk_talks_to_the_twin() {
    assert_eq!(node("slack_node.mjs").await["sockets"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_bolt_talks_to_the_twin() {
    assert_eq!(node("slack_bolt.mjs").await["sockets"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_python_sdk_talks_to_the_twin() {
    let python = peers().join("venv/bin/python");
    assert_eq!(run(&python, "slack_python.py", &python).await["sockets"], 2);
}

/// Bolt's own verifier accepts the twin's signatures and refuses tampered and stale ones.
#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_bolt_http_verifies_the_twins_signatures() {
    let installed = peers().join("node_modules/@slack");
    assert!(installed.exists(), "{INSTALL_HINT}");
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    let mut command = Command::new("node");
    command
        .arg(peers().join("slack_bolt_http.mjs"))
        .arg(twin.origin())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(CLIENT_LIMIT, command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    twin.shutdown().await;
}
