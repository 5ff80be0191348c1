//! The three forms of an answer.

use serde_json::json;

use super::{FakeHub, id, run, run_in};

fn agents() -> FakeHub {
    let agent = |name: &str, queued: u64| {
        json!({"name": name, "id": id("agt"), "state": "idle", "runtime": {"kind": "codex"}, "addressCount": 2,
            "queued": queued, "oldestSeconds": null, "currentTurn": null})
    };
    FakeHub::always(200, json!({"items": [agent("docs", 3), agent("a\u{1b}[31mb", 12)], "nextCursor": null}))
}

#[test]
fn a_list_is_a_table_a_page_or_lines() {
    let hub = agents();
    let human = run(&hub, &["agent", "list"]);
    let lines: Vec<&str> = human.out.lines().collect();
    assert!(lines[0].starts_with("NAME"), "{}", human.out);
    assert!(lines[0].contains("ADDRESSES  QUEUED  OLDEST  CURRENT-TURN"), "{}", human.out);
    assert!(lines[1].starts_with("docs") && lines[1].contains("codex"));
    assert!(lines[2].contains("a\\u{1b}[31mb"));
    let json = run(&hub, &["agent", "list", "--format", "json"]);
    assert_eq!(json.json()["items"].as_array().unwrap().len(), 2);
    assert!(json.json()["nextCursor"].is_null());
    let lines = run(&hub, &["agent", "list", "--format", "ndjson"]);
    assert_eq!(lines.out.lines().count(), 2);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(lines.out.lines().next().unwrap()).unwrap()["name"],
        "docs"
    );
}

/// MSG-019: no escape sequence without a terminal, nor with `NO_COLOR`; bold headers on a terminal.
#[test]
fn msg_019_no_escape_sequences() {
    let hub = agents();
    assert!(!run(&hub, &["agent", "list"]).out.contains('\u{1b}'));
    let mut env = hub.environment();
    env.stdout_is_terminal = true;
    env.columns = Some(60);
    let ran = run_in(env, &["agent", "list"]);
    assert!(ran.out.starts_with("\u{1b}[1mNAME"), "{}", ran.out);
    assert!(ran.out.contains('…'), "{}", ran.out);
    for (name, words) in [("NO_COLOR", vec!["agent", "list"]), ("OTHER", vec!["agent", "list", "--no-color"])]
    {
        let mut env = hub.environment();
        env.stdout_is_terminal = true;
        env.variables.insert(name.into(), "1".into());
        assert!(!run_in(env, &words).out.contains('\u{1b}'));
    }
}

#[test]
fn an_empty_list_is_one_sentence_on_stderr() {
    let hub = FakeHub::always(200, json!({"items": [], "nextCursor": null}));
    let ran = run(&hub, &["inbox"]);
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", "no Inbox items\n"));
    assert_eq!(run(&hub, &["inbox", "--quiet"]).err, "");
}

/// MSG-007: each Address stands under its Connection with its policy words, version and successor.
#[test]
fn msg_007_addresses_stand_under_their_connection() {
    let address = json!({"id": id("adr"), "externalIdentity": "slack://T1/U1", "agentId": id("agt"), "version": 3,
        "triggerPolicy": "mention", "replyPolicy": "final_answer", "dmPolicy": "managed", "trustDomain": "local",
        "enabled": true, "blockActors": ["U9"], "archivedAt": null, "supersededBy": null});
    let connection = json!({"id": id("con"), "provider": "slack", "state": "connected", "reason": "ok", "accountRef": "A1",
        "scopeRef": "T1", "gatewayMode": "managed", "addresses": [address]});
    let hub = FakeHub::always(200, json!({"items": [connection], "nextCursor": null}));
    let ran = run(&hub, &["integration", "list"]);
    let policy = format!(
        "    {} slack://T1/U1 → {} enabled v3 trigger=mention reply=final_answer dm=managed trust=local",
        id("adr"),
        id("agt")
    );
    assert!(ran.out.contains(&policy), "{}", ran.out);
    assert!(ran.out.contains("blockActors: U9"), "{}", ran.out);
}

/// MSG-008: `--check` is exit 0 for a connected Connection without an error, else 4.
#[test]
fn msg_008_check() {
    let connection = |state: &str| {
        json!({"id": id("con"), "provider": "slack", "state": state, "reason": "ok", "lastError": null,
            "health": {"provedAliveSecondsAgo": 4, "proof": "pong", "oldestQueuedSeconds": 0, "pending": 0}})
    };
    let hub = FakeHub::always(200, connection("connected"));
    let ran = run(&hub, &["integration", "status", &id("con"), "--check"]);
    assert_eq!(ran.exit, 0);
    assert!(
        ran.out.contains("connected · proved alive 4 s ago (pong) · queue 0 s · outbox 0"),
        "{}",
        ran.out
    );
    let hub = FakeHub::always(200, connection("degraded"));
    assert_eq!(run(&hub, &["integration", "status", &id("con"), "--check"]).exit, 4);
    assert_eq!(run(&hub, &["integration", "status", &id("con")]).exit, 0);
}

/// MSG-011: all lines of guidance and the version are shown.
#[test]
fn msg_011_multi_line_guidance() {
    let hub =
        FakeHub::always(200, json!({"id": id("mem"), "version": 7, "guidance": "one\ntwo\n\u{1b}three"}));
    let ran = run(&hub, &["conversation", "get", &id("mem")]);
    assert!(ran.out.contains("version             7\n"), "{}", ran.out);
    assert!(ran.out.ends_with("guidance\n    one\n    two\n    \\u{1b}three\n"), "{}", ran.out);
}

#[test]
fn where_ends_with_its_verdict() {
    let steps =
        json!([{"at": "2027-01-15T08:00:00.000Z", "layer": "event", "id": id("evt"), "text": "received"}]);
    let hub =
        FakeHub::always(200, json!({"verdict": "REFUSED", "reason": "membership_missing", "steps": steps}));
    let ran = run(&hub, &["where", "https://x.slack.com/archives/C1/p1"]);
    assert_eq!(ran.out.lines().last(), Some("REFUSED:membership_missing"));
    assert_eq!(hub.last().query, "q=https%3A%2F%2Fx.slack.com%2Farchives%2FC1%2Fp1");
}
