//! What a command line means.

use serde_json::json;

use super::{FakeHub, id, run, run_alone, run_in};
use crate::environment::Environment;

fn sent() -> serde_json::Value {
    json!({"id": id("out"), "state": "sent", "parts": []})
}

/// MSG-014: a misspelt flag or command names the nearest one, exits 2 and has no effect.
#[test]
fn msg_014_the_nearest_flag_is_named() {
    let hub = FakeHub::always(200, json!({}));
    let ran = run(&hub, &["integration", "send", "--from", "docs", "--asnyc", "hello"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.err.contains("--async"), "{}", ran.err);
    let ran = run(&hub, &["agnet", "list"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.err.contains("`agent`"), "{}", ran.err);
    let ran = run(&hub, &["inbox", "list", "--stat", "queued"]);
    assert!(ran.err.contains("--state"), "{}", ran.err);
    assert!(hub.seen().is_empty());
}

/// MSG-015: a flag without a value never takes the next word; a value may begin with a dash behind `=`.
#[test]
fn msg_015_async_takes_no_word_and_a_body_may_begin_with_dashes() {
    let hub = FakeHub::always(202, sent());
    let to = id("mem");
    let base = ["integration", "send", "--from", "docs", "--to", &to, "--idempotency-key", "k"];
    let words: Vec<&str> = base.iter().copied().chain(["--async", "hello"]).collect();
    let ran = run(&hub, &words);
    assert_eq!((ran.exit, ran.out.trim()), (0, format!("queued {}", id("out")).as_str()));
    assert_eq!(hub.last().json()["content"]["text"], "hello");
    assert_eq!(hub.last().prefer, "");
    let words: Vec<&str> = base.iter().copied().chain(["--body=--x"]).collect();
    assert_eq!(run(&hub, &words).exit, 0);
    assert_eq!(hub.last().json()["content"]["text"], "--x");
    assert_eq!(hub.last().prefer, "wait=30");
}

/// Totals of refusals are over everything: a filter beside them would be ignored, so it is refused.
#[test]
fn totals_of_refusals_take_no_filter() {
    let hub = FakeHub::always(200, json!({"items": [], "nextCursor": null}));
    assert_eq!(run(&hub, &["inbox", "refused", "--counts"]).exit, 0);
    for filter in [["docs", "--counts"], ["--counts", "--since=1h"]] {
        let words: Vec<&str> = ["inbox", "refused", "--json"].into_iter().chain(filter).collect();
        let ran = run(&hub, &words);
        assert_eq!(ran.exit, 2, "{}", ran.out);
        assert!(ran.out.contains("mutually_exclusive"), "{}", ran.out);
    }
    assert_eq!(hub.seen().len(), 1);
}

/// MSG-158: exactly one of `--reply-to` and `--to`; `--to` needs a key and a Membership.
#[test]
fn msg_158_reply_or_membership() {
    let (inb, mem) = (id("inb"), id("mem"));
    for (words, exit, code) in [
        (vec!["--reply-to", &inb, "--to", &mem, "x"], 2, "mutually_exclusive"),
        (vec!["x"], 2, "missing_field"),
        (vec!["--to", &mem, "x"], 2, "idempotency_key_required"),
        (vec!["--to", "C0123", "--idempotency-key", "k", "x"], 1, "membership_required"),
        (vec!["--reply-to", &inb, "--thread-id", "1.2", "x"], 1, "target_not_allowed"),
        (vec!["--reply-to", &inb, "--body", "x", "y"], 2, "mutually_exclusive"),
        (vec!["--reply-to", &inb], 2, "missing_field"),
    ] {
        let words: Vec<&str> =
            ["--json", "integration", "send", "--from", "docs"].into_iter().chain(words).collect();
        let ran = run_alone(&words);
        assert_eq!((ran.exit, ran.code().as_str()), (exit, code), "{words:?}");
    }
}

/// MSG-021: a command word cannot name an Agent.
#[test]
fn msg_021_reserved_names() {
    let ran = run_alone(&["agent", "create", "retry", "--runtime", "codex", "--json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "reserved_name"));
}

/// MSG-018: `--clear` names the field; booleans need a value.
#[test]
fn msg_018_clear_and_booleans() {
    let hub =
        FakeHub::always(200, json!({"object": {"id": id("mem"), "version": 5}, "changed": ["guidance"]}));
    let adr = id("adr");
    let ran = run(&hub, &["conversation", "set", &adr, "C0123", "--clear", "guidance", "--enabled", "false"]);
    assert_eq!(ran.out.trim(), format!("updated {} v4→v5 (guidance)", id("mem")));
    let seen = hub.last();
    assert_eq!(
        (seen.method.as_str(), seen.path.clone()),
        ("PUT", format!("/v1/addresses/{adr}/conversations/C0123"))
    );
    assert_eq!(seen.json(), json!({"clear": ["guidance"], "enabled": false}));
    assert_eq!(run(&hub, &["conversation", "set", &adr, "C0123", "--enabled", "yes"]).exit, 2);
    assert_eq!(run(&hub, &["conversation", "set", &adr, "C0123", "--enabled"]).exit, 2);
}

/// MSG-020: `--dry-run` reaches the hub as such.
#[test]
fn msg_020_dry_run_asks_for_a_plan() {
    let hub = FakeHub::always(
        200,
        json!({"object": {"id": id("agt"), "version": 2}, "changed": ["name"], "dryRun": true}),
    );
    let ran = run(&hub, &["agent", "rename", "docs", "manual", "--dry-run"]);
    assert_eq!(hub.last().query, "dryRun=true");
    assert!(ran.out.starts_with("dry run, nothing changed: updated agt_"), "{}", ran.out);
}

#[test]
fn the_list_is_what_a_noun_alone_means_and_global_flags_stand_anywhere() {
    let hub = FakeHub::always(200, json!({"items": [], "nextCursor": null}));
    for words in [
        vec!["inbox", "docs", "--open", "--json"],
        vec!["--json", "inbox", "list", "docs", "--open"],
        vec!["inbox", "--format=json", "list", "--open", "docs"],
        vec!["inbox", "list", "docs", "--open", "--output", "json"],
    ] {
        let ran = run(&hub, &words);
        assert_eq!((ran.exit, ran.json()["items"].clone()), (0, json!([])), "{words:?} {}", ran.err);
        assert_eq!(hub.last().query, "agent=docs&open=true", "{words:?}");
    }
    assert_eq!(run(&hub, &["inbox", "--open", "list"]).exit, 2);
}

/// MSG-024: no secret on the command line or in a document.
#[test]
fn msg_024_secrets_are_refused() {
    let token = format!("xoxb-{}-{}", "1234567890123-1234567890123", "abcdefghijklmnopqrstuvwx");
    let ran = run_alone(&[
        "integration",
        "connect",
        "slack",
        "--account",
        "A1",
        "--credential-ref",
        &token,
        "--json",
    ]);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "secret_in_input"));
    assert!(!ran.out.contains(&token) && !ran.err.contains(&token));
    let mut env = Environment::empty();
    env.stdin.reader = Box::new(std::io::Cursor::new(format!("{{\"guidance\":\"use {token}\"}}")));
    let ran = run_in(env, &["conversation", "set", &id("adr"), "C0123", "--file", "-", "--json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "secret_in_input"));
}

/// MSG-240: work on many items is counted and needs `--yes`.
#[test]
fn msg_240_bulk_needs_yes() {
    let hub = FakeHub::start(|seen| match seen.method.as_str() {
        "GET" => (200, json!({"items": [{"id": id("out")}, {"id": id("out")}], "nextCursor": null})),
        _ => (200, json!({"object": {"id": id("out"), "version": 3}, "changed": ["state"]})),
    });
    let ran = run(&hub, &["outbox", "retry", "--all", "--state", "failed", "--json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (3, "confirmation_required"));
    assert!(ran.err.contains("retry 2 items"), "{}", ran.err);
    let ran = run(&hub, &["outbox", "retry", "--all", "--state", "failed", "--yes"]);
    assert_eq!((ran.exit, ran.out.lines().count()), (0, 2));
    assert_eq!(run(&hub, &["outbox", "retry", "--all"]).exit, 2);
    assert_eq!(run(&hub, &["outbox", "retry"]).exit, 2);
}

#[test]
fn tokens_come_from_the_environment_and_a_turn_needs_one() {
    let hub = FakeHub::always(200, json!({"items": []}));
    let mut env = hub.environment();
    env.variables.insert("LOOM_TURN_ID".into(), id("trn"));
    let ran = run_in(env, &["inbox", "--json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "unauthenticated"));
    let mut env = hub.environment();
    env.variables.insert("LOOM_TURN_ID".into(), id("trn"));
    env.variables.insert("LOOM_TOKEN".into(), "abc".into());
    assert_eq!(run_in(env, &["inbox"]).exit, 0);
    assert_eq!(hub.last().authorization, "Bearer abc");
}
