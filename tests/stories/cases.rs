//! Compatibility cases of the capability half, with the real program under both of its names.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use loom_twins::github::{GithubTwin, Repo};
use loom_twins::sec::SecTwin;
use serde_json::Value;

const LOOM: &str = env!("CARGO_BIN_EXE_loom");
const LOOPX: &str = env!("CARGO_BIN_EXE_loopx");
const TOKEN: &str = "ghp_twin_0000000000000000000000000000";

fn command(program: &str, home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LOOM_HOME", home).env("HOME", home).stdin(Stdio::null()).args(words);
    command
}

fn run(program: &str, home: &Path, words: &[&str]) -> Output {
    command(program, home, words).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

async fn github(open: u64) -> (GithubTwin, String) {
    let repo = Repo::new("owner/repo").open_pulls(open).closed_pulls(3);
    let twin =
        GithubTwin::builder().seed(5).repo(repo).token(TOKEN, "ana").quota(1_000_000).start().await.unwrap();
    let base = twin.base_url();
    (twin, base)
}

/// CAP-003: every open pull request in one document.
#[tokio::test(flavor = "multi_thread")]
async fn cap_003_a_scan_prints_every_open_pull_request() {
    let home = tempfile::tempdir().unwrap();
    let (twin, base) = github(230).await;
    let words = ["capability", "run", "pr_review", "--repo", "https://github.com/owner/repo"];
    let words = [&words[..], &["--filter", "open", "--output", "json"]].concat();
    let output = command(LOOPX, home.path(), &words)
        .env("LOOM_GITHUB_API_URL", &base)
        .env("GH_ENTERPRISE_TOKEN", TOKEN)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let payload = document(&output);
    let numbers: Vec<u64> =
        payload["items"].as_array().unwrap().iter().map(|item| item["number"].as_u64().unwrap()).collect();
    let open =
        twin.pulls("owner/repo").into_iter().filter(|pull| pull.state == loom_twins::github::PullState::Open);
    assert_eq!(numbers, open.map(|pull| pull.number).collect::<Vec<_>>());
    assert_eq!((payload["complete"].as_bool(), payload["item_count"].as_u64()), (Some(true), Some(230)));
}

/// CAP-033: the same items in the same order, one at a time and eight at once.
#[tokio::test(flavor = "multi_thread")]
async fn cap_033_items_keep_their_order_at_any_concurrency() {
    let home = tempfile::tempdir().unwrap();
    let (_twin, base) = github(30).await;
    let scan = |concurrency: &str| {
        let words =
            ["capability", "run", "pr_review", "--repo", "owner/repo", "--detail", "standard", "--no-save"];
        let words = [&words[..], &["--concurrency", concurrency, "--format", "json"]].concat();
        let mut command = command(LOOM, home.path(), &words);
        let output =
            command.env("LOOM_GITHUB_API_URL", &base).env("GH_ENTERPRISE_TOKEN", TOKEN).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        document(&output)["items"].clone()
    };
    let (one, eight) = (scan("1"), scan("8"));
    assert_eq!((one.as_array().unwrap().len(), one == eight), (30, true));
}

/// CAP-007, CAP-026, CAP-025: both names give the same, with an empty PATH, and whatever lies beside the home.
#[test]
fn cap_007_cap_025_cap_026_both_names_give_the_same_beside_foreign_data() {
    let room = tempfile::tempdir().unwrap();
    let home = room.path().join("home");
    for words in [
        &["capability", "list", "--format", "json"][..],
        &["capability", "show", "pr_review", "--format", "json"],
        &["value-connectors", "source-map", "--format", "json"],
        &["value-connectors", "install-check", "--format", "json"],
        &["value-connectors", "show", "finance_probe", "--format", "json"],
        &["schema", "--format", "json"],
        &["integration-branch", "--format", "json"],
        &["capability", "run", "nothing_here", "--format", "json"],
    ] {
        let alone = run(LOOM, &home, words);
        for foreign in [".loopx", ".loom", "loom-old"] {
            std::fs::create_dir_all(room.path().join(foreign)).unwrap();
            std::fs::write(room.path().join(foreign).join("state.json"), "{\"schema\":0}").unwrap();
        }
        let other = run(LOOPX, &home, words);
        assert_eq!(alone.status.code(), other.status.code(), "{words:?}");
        assert_eq!(without_times(&document(&alone)), without_times(&document(&other)), "{words:?}");
    }
}

/// What changes with each call.
fn without_times(document: &Value) -> Value {
    match document {
        Value::Object(members) => {
            let own =
                |key: &str| key.ends_with("_at") || key == "request_id" || key == "run_id" || key == "now";
            Value::Object(
                members
                    .iter()
                    .filter(|(key, _)| !own(key))
                    .map(|(k, v)| (k.clone(), without_times(v)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_times).collect()),
        other => other.clone(),
    }
}

/// CAP-012: what is not ready says why, and which command helps.
#[test]
fn cap_012_what_is_not_ready_says_why() {
    let home = tempfile::tempdir().unwrap();
    let words = ["value-connectors", "github-public-probe", "--fetch-metadata", "--format", "json"];
    let words = [&words[..], &["--url", "https://github.com/owner/repo/discussions/7"]].concat();
    let output = run(LOOM, home.path(), &words);
    let error = document(&output);
    let error = error.get("error").filter(|error| error.is_object()).unwrap_or(&error);
    assert_eq!((error["code"].as_str(), output.status.code()), (Some("not_ready"), Some(1)), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{error}");
}

/// CAP-021: only the reference is kept and shown; a new process resolves it anew, and tells when it is gone.
#[tokio::test(flavor = "multi_thread")]
async fn cap_021_a_credential_is_a_reference_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let (_twin, base) = github(3).await;
    let words =
        ["capability", "run", "pr_review", "--repo", "owner/repo", "--credential-ref", "env:MY_GITHUB"];
    let words = [&words[..], &["--api-url", &base, "--format", "json"]].concat();
    let config = run(LOOM, home.path(), &[&words[..], &["--print-config"]].concat());
    assert!(config.status.success() && document(&config).to_string().contains("env:MY_GITHUB"));
    let good = command(LOOM, home.path(), &words).env("MY_GITHUB", TOKEN).output().unwrap();
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stdout));
    let gone = run(LOOM, home.path(), &words);
    assert_eq!(
        (document(&gone)["error"]["code"].as_str(), gone.status.code()),
        (Some("credential_unavailable"), Some(1))
    );
    for output in [&config, &good, &gone] {
        assert!(!String::from_utf8_lossy(&output.stdout).contains(TOKEN));
    }
    for file in files(home.path()) {
        assert!(
            !String::from_utf8_lossy(&std::fs::read(&file).unwrap()).contains(TOKEN),
            "{}",
            file.display()
        );
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// CAP-068, CAP-087: the program that may know a token gets no variable that is not meant for it.
#[tokio::test(flavor = "multi_thread")]
async fn cap_068_a_child_gets_an_environment_of_its_own() {
    let room = tempfile::tempdir().unwrap();
    let (bin, seen) = (room.path().join("bin"), room.path().join("seen"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\n/usr/bin/env > {}\necho {TOKEN}\n", seen.display());
    std::fs::write(bin.join("gh"), script).unwrap();
    std::fs::set_permissions(bin.join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (_twin, base) = github(3).await;
    let words =
        ["capability", "run", "pr_review", "--repo", "owner/repo", "--api-url", &base, "--format", "json"];
    let output = command(LOOM, &room.path().join("home"), &words)
        .env("PATH", &bin)
        .env("MY_SECRET", "not-for-children")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(
        document(&output)["provenance"]["credential"]["source"],
        "gh",
        "{}",
        document(&output)["provenance"]
    );
    let environment = std::fs::read_to_string(&seen).unwrap();
    assert!(environment.contains("PATH=") && !environment.contains("MY_SECRET"), "{environment}");
}

/// CAP-098: four processes at once keep to eight requests in any second together, counted where they arrive.
#[tokio::test(flavor = "multi_thread")]
async fn cap_098_four_processes_keep_to_eight_requests_a_second() {
    let home = tempfile::tempdir().unwrap();
    let twin = SecTwin::builder().start().await.unwrap();
    let base = twin.base_url();
    let reader = |home: std::path::PathBuf, base: String| {
        std::thread::spawn(move || {
            let words = ["value-connectors", "finance-probe", "filing", "--cik", "320193", "--no-save"];
            let words = [&words[..], &["--contact", "Ann ann@example.org", "--api-url", &base]].concat();
            (0..6).filter(|_| run(LOOM, &home, &words).status.success()).count()
        })
    };
    let readers: Vec<_> = (0..4).map(|_| reader(home.path().to_owned(), base.clone())).collect();
    let good =
        tokio::task::spawn_blocking(|| readers.into_iter().map(|one| one.join().unwrap()).sum::<usize>());
    assert_eq!(good.await.unwrap(), 24);
    assert!(twin.request_count() >= 24 && twin.busiest_second() <= 8, "{}", twin.busiest_second());
}
