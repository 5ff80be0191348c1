//! The vault from the command line: values go in by pipe or private file and never come out.

use std::io::Cursor;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Ran, run_in};
use crate::environment::Environment;

const VALUE: &str = r#"{"bot_token":"xoxb-1-twin","app_token":"xapp-1-A0001-1-twin"}"#;

fn run_at(home: &Path, input: &str, words: &[&str]) -> Ran {
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.to_string_lossy().into_owned());
    env.stdin.reader = Box::new(Cursor::new(input.to_owned()));
    run_in(env, words)
}

/// ID-14, ID-16: set, list, test and rm; no output holds a value.
#[test]
fn id_16_secrets_go_in_and_only_names_come_out() {
    let home = tempfile::tempdir().unwrap();
    let run = |input: &str, words: &[&str]| run_at(home.path(), input, words);
    let plan = run(VALUE, &["secret", "set", "slack.docs", "--dry-run"]);
    assert_eq!((plan.exit, plan.out.as_str()), (0, "dry run, nothing changed: stored vault:slack.docs\n"));
    let stored = run(VALUE, &["secret", "set", "slack.docs"]);
    assert_eq!((stored.exit, stored.out.as_str()), (0, "stored vault:slack.docs\n"));
    assert!(stored.err.contains("the vault's key lies beside it"), "{}", stored.err);
    assert_eq!(run(VALUE, &["secret", "set", "slack.docs", "--json"]).json()["created"], false);
    let listed = run("", &["secret", "list"]);
    assert!(listed.out.contains("vault:slack.docs"), "{}", listed.out);
    let tested = run("", &["secret", "test", "vault:slack.docs", "--kind", "slack", "--json"]);
    assert_eq!(tested.json()["fields"], serde_json::json!(["app_token", "bot_token"]));
    let unsure = run("", &["secret", "rm", "slack.docs", "--json"]);
    assert_eq!((unsure.exit, unsure.code().as_str()), (3, "confirmation_required"));
    assert_eq!(run("", &["secret", "rm", "slack.docs", "--yes"]).out, "removed vault:slack.docs\n");
    assert_eq!(run("", &["secret", "rm", "slack.docs", "--yes", "--json"]).code(), "not_found");
    for ran in [plan, stored, listed, tested] {
        assert!(!format!("{}{}", ran.out, ran.err).contains("1-twin"), "{}{}", ran.out, ran.err);
    }
}

/// ID-15: a value comes from a pipe or a private file, never from a terminal or an open file.
#[test]
fn id_15_only_private_files_and_pipes_are_read() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("value");
    std::fs::write(&file, VALUE).unwrap();
    let path = file.to_string_lossy().into_owned();
    let set = |mode: u32| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        run_at(home.path(), "", &["secret", "set", "a", "--file", &path, "--json"])
    };
    assert_eq!(set(0o644).code(), "credential_file_refused");
    assert_eq!(set(0o600).exit, 0);
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.path().to_string_lossy().into_owned());
    env.stdin.is_terminal = true;
    assert_eq!(run_in(env, &["secret", "set", "a", "--json"]).code(), "missing_field");
    assert_eq!(run_at(home.path(), "abc", &["secret", "set", "a", "--json"]).code(), "invalid_input");
    assert_eq!(
        run_at(home.path(), "long enough", &["secret", "set", "a b", "--json"]).code(),
        "invalid_argument"
    );
}

/// Inside a Turn nobody reads or fills the owner's vault.
#[test]
fn an_agent_is_refused_the_vault() {
    let home = tempfile::tempdir().unwrap();
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), home.path().to_string_lossy().into_owned());
    env.variables.insert("LOOM_TURN_ID".into(), super::id("trn"));
    assert_eq!(run_in(env, &["secret", "list", "--json"]).code(), "forbidden");
}
