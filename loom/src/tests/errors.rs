//! Failures, in every form.

use serde_json::{Value, json};

use super::{FakeHub, id, run, run_alone};

fn problem(code: &str, status: u16, detail: &Value) -> FakeHub {
    let body = json!({"type": "about:blank", "title": code, "status": status, "code": code, "message": "it was refused",
        "hint": "loom status", "retryable": false, "detail": detail});
    FakeHub::always(status, body)
}

/// MSG-016: usage, domain and network errors are one object on stdout with a code, and one sentence on stderr.
#[test]
fn msg_016_one_object_for_every_kind_of_error() {
    let hub = problem("not_found", 404, &Value::Null);
    for (ran, code) in [
        (run_alone(&["agent", "get", "docs", "--nonsense", "--format", "json"]), "usage"),
        (run_alone(&["--format=ndjson", "inbox", "list", "--limit", "0"]), "invalid_argument"),
        (run_alone(&["--json", "agent", "create", "docs"]), "missing_field"),
        (run_alone(&["--json", "inbox", "defer", &id("inb")]), "missing_field"),
        (run_alone(&["--json", "inbox", "defer", &id("inb"), "--for", "soon"]), "invalid_time"),
        (run_alone(&["--json", "conversation", "get", "adr_x"]), "invalid_id"),
        (run_alone(&["--json", "status"]), "hub_unreachable"),
        (run(&hub, &["--json", "agent", "get", "docs"]), "not_found"),
    ] {
        assert_eq!(ran.json()["ok"], json!(false));
        assert_eq!(ran.code(), code, "{}", ran.out);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.starts_with("error: "));
    }
}

/// MSG-017: the exit status follows the kind of failure.
#[test]
fn msg_017_exit_statuses() {
    for (code, status, exit) in [
        ("not_found", 404, 1),
        ("invalid_argument", 400, 2),
        ("confirmation_required", 409, 3),
        ("provider_timeout", 504, 4),
        ("version_conflict", 409, 5),
        ("audit_broken", 500, 6),
        ("hub_draining", 503, 7),
    ] {
        let hub = problem(code, status, &Value::Null);
        assert_eq!(run(&hub, &["audit", "verify"]).exit, exit, "{code}");
    }
    assert_eq!(run_alone(&["status"]).exit, 7);
    assert_eq!(run_alone(&["statu"]).exit, 2);
}

/// MSG-009: a Connection that cannot exist is not found, not an empty success.
#[test]
fn msg_009_unknown_connection() {
    let ran = run_alone(&["integration", "status", "con_x", "--json"]);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "not_found"));
}

#[test]
fn people_read_a_sentence_the_causes_and_a_hint() {
    let detail =
        json!({"current_version": 4, "diff": [{"field": "name", "yours": "a", "current": "b\u{1b}[2J"}]});
    let hub = problem("version_conflict", 409, &detail);
    let ran = run(&hub, &["agent", "rename", "docs", "manual"]);
    assert_eq!(
        ran.err,
        "error: it was refused\n  current version 4\n  name: yours a, current b\\u{1b}[2J\nhint: loom status\n"
    );
    assert_eq!(ran.out, "");
}

/// MSG-016: what the commands of secrets do not understand is never repeated.
#[test]
fn msg_016_a_stray_secret_is_not_echoed() {
    for words in [
        vec!["secret", "set", "a.b", "hunter2hunter2"],
        vec!["secret", "set", "a.b", "--value=hunter2hunter2"],
        vec!["secret", "set", "a.b", "-phunter2hunter2"],
        vec!["secret", "hunter2hunter2"],
        vec!["secret", "set", "a.b", "hunter2hunter2", "--json"],
    ] {
        let ran = run_alone(&words);
        assert_eq!(ran.exit, 2, "{words:?}");
        assert!(!ran.err.contains("hunter2") && !ran.out.contains("hunter2"), "{} {}", ran.out, ran.err);
    }
}

#[test]
fn arguments_are_named_in_words_and_unknown_codes_by_the_nearest() {
    let ran = run_alone(&["integration", "token", "adr_x"]);
    assert!(
        ran.err.starts_with("error: Connection id: expected an id that starts with con_\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("hint: copy the id from `loom integration list`"), "{}", ran.err);
    let ran = run_alone(&["integration", "token"]);
    assert!(!ran.err.contains('<'), "{}", ran.err);
    let ran = run_alone(&["explain", "delivery_unknwon"]);
    assert!(ran.err.contains("did you mean `delivery_unknown`?"), "{}", ran.err);
    let ran = run_alone(&["explain", "trigger_not_met"]);
    assert!(ran.out.contains("loom inbox refused --reason trigger_not_met"), "{}{}", ran.out, ran.err);
    let ran = run_alone(&["inbox", "list", "--since", "yesterday"]);
    assert!(ran.err.contains("RFC 3339"), "{}", ran.err);
    let ran = run_alone(&["help", "agent", "create"]);
    assert!(ran.exit == 0 && ran.out.contains("--runtime"), "{}{}", ran.out, ran.err);
}

#[test]
fn never_seen_tells_how_each_connection_does() {
    let detail = json!({"connections": [
        {"id": "con_1", "provider": "slack", "enabled": true, "state": "degraded", "reason": "deaf",
            "last_event_at": "2026-01-01T00:00:00.000Z"},
        {"id": "con_2", "provider": "slack", "enabled": false, "last_event_at": null},
    ]});
    let ran = run(&problem("never_seen", 404, &detail), &["where", "slack:C1/1.2"]);
    assert!(ran.err.contains("con_1 degraded(deaf), last event 2026-01-01T00:00:00.000Z"), "{}", ran.err);
    assert!(ran.err.contains("con_2 disabled, last event -"), "{}", ran.err);
}

#[test]
fn enabling_a_membership_with_the_wrong_noun_names_the_right_one() {
    let ran = run_alone(&["integration", "enable", &id("mem")]);
    assert_eq!(ran.exit, 2);
    assert!(ran.err.contains(&format!("hint: loom conversation enable {}", id("mem"))), "{}", ran.err);
}
