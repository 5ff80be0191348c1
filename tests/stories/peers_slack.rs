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
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../peers")
}

/// Runs a client script to its good end and gives what it printed.
async fn client(program: &Path, installed: &Path, script: &str, arguments: &[&str]) -> String {
    assert!(installed.exists(), "{INSTALL_HINT}");
    let mut command = Command::new(program);
    command.arg(peers().join(script)).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(CLIENT_LIMIT, command.output()).await.unwrap().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script} failed\n{out}\n{err}");
    out.into_owned()
}

/// The same for a script of the Node clients.
pub(crate) async fn node(script: &str, arguments: &[&str]) -> String {
    client(Path::new("node"), &peers().join("node_modules/@slack"), script, arguments).await
}

/// Judges the result line of a client and the twin that it has talked to.
async fn judge(printed: &str, twin: SlackTwin) {
    let line = printed.lines().rfind(|line| line.starts_with('{')).unwrap();
    let result: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&result["ok"], &result["sockets"]), (&true.into(), &2.into()), "{line}");
    check_ledger(&twin);
    twin.shutdown().await;
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

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_node_sdk_talks_to_the_twin() {
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    judge(&node("slack_node.mjs", &[&twin.origin()]).await, twin).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_bolt_talks_to_the_twin() {
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    judge(&node("slack_bolt.mjs", &[&twin.origin()]).await, twin).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_python_sdk_talks_to_the_twin() {
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    let python = peers().join("venv/bin/python");
    judge(&client(&python, &python, "slack_python.py", &[&twin.origin()]).await, twin).await;
}

/// Bolt's own verifier accepts the twin's signatures and refuses tampered and stale ones.
#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_bolt_http_verifies_the_twins_signatures() {
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    node("slack_bolt_http.mjs", &[&twin.origin()]).await;
    twin.shutdown().await;
}
