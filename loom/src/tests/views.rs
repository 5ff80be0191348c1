//! What people see of real answers.

use serde_json::{Value, json};

use super::{FakeHub, id, run, run_in};

fn health() -> Value {
    json!({"state": "connected", "reason": "ok", "since": "2027-01-15T07:59:00.000Z",
        "provedAliveAt": "2027-01-15T07:59:55.000Z", "provedAliveSecondsAgo": 5, "proof": "pong", "pending": 3})
}

fn connections() -> FakeHub {
    FakeHub::start(|seen| match seen.path.as_str() {
        "/v1/agents" => (200, json!({"items": [{"id": id("agt"), "name": "docs"}], "nextCursor": null})),
        _ => {
            let address = json!({"id": id("adr"), "agentId": id("agt"), "enabled": true, "version": 2});
            let connection = json!({"id": id("con"), "provider": "slack", "accountRef": "A1", "scopeRef": "T1",
                "state": "connected", "reason": "ok", "enabled": true, "health": health(), "addresses": [address]});
            (200, json!({"items": [connection], "nextCursor": null}))
        }
    })
}

/// Health is what was proved, in the list as in the status.
#[test]
fn connections_show_their_proof() {
    let hub = connections();
    let status = run(&hub, &["integration", "status"]).out;
    assert!(status.contains("connected · proved alive 5 s ago (pong)"), "{status}");
    assert!(status.contains("outbox 3") && !status.contains("never"), "{status}");
    let list = run(&hub, &["integration", "list"]).out;
    let row = list.lines().nth(1).unwrap();
    assert!(row.contains("ago") && row.contains("  3  -"), "{list}");
    assert!(list.contains("→ docs enabled v2"), "{list}");
}

#[test]
fn a_path_shows_the_deciding_step_and_wide_shows_all() {
    let step = |text: &str, code: Value| json!({"at": "2027-01-15T07:59:00.000Z", "layer": "decision", "id": id("evt"), "text": text, "code": code});
    let steps = [step("step 1: pass", Value::Null), step("refused at step 17", json!("trigger_not_met"))];
    let hub =
        FakeHub::always(200, json!({"verdict": "REFUSED", "reason": "trigger_not_met", "steps": steps}));
    let event = id("evt");
    let short = run(&hub, &["where", &event]).out;
    assert!(!short.contains("step 1: pass") && short.contains("refused at step 17"), "{short}");
    assert!(short.ends_with("REFUSED:trigger_not_met\n"), "{short}");
    assert!(run(&hub, &["where", &event, "--wide"]).out.contains("step 1: pass"));
    assert_eq!(run(&hub, &["where", &event, "--json"]).json()["steps"].as_array().unwrap().len(), 2);
}

#[test]
fn attempts_are_those_that_were_made() {
    let part = |state: &str, failed: u64| json!({"state": state, "attemptCount": failed});
    let item = |parts: Value| json!({"id": id("out"), "state": "sent", "totalParts": 2, "parts": parts});
    let page = [item(json!([part("sent", 0), part("sent", 6)])), item(json!([part("retry_wait", 5)]))];
    let hub = FakeHub::always(200, json!({"items": page, "nextCursor": null}));
    let out = run(&hub, &["outbox"]).out;
    let cell = |row: usize| out.lines().nth(row).unwrap().split_whitespace().nth(4).unwrap().to_owned();
    assert_eq!((cell(1), cell(2)), ("8".to_owned(), "5".to_owned()), "{out}");
}

#[test]
fn the_audit_verdict_names_rows_and_chains() {
    let hub = FakeHub::always(200, json!({"ok": true, "rows": 33, "nodes": 1}));
    assert_eq!(run(&hub, &["audit", "verify"]).out, "intact: 33 rows in 1 chain\n");
}

/// Refusals name the provider of their Connection.
#[test]
fn refusals_name_their_provider() {
    let hub = FakeHub::start(|seen| match seen.path.as_str() {
        "/v1/connections" => (200, json!({"items": [{"id": id("con"), "provider": "slack"}]})),
        _ => {
            (200, json!({"items": [{"id": id("evt"), "connectionId": id("con"), "reason": "self_message"}]}))
        }
    });
    let out = run(&hub, &["inbox", "refused"]).out;
    assert!(out.lines().nth(1).unwrap().contains("self_message  slack"), "{out}");
}

/// The code is known before the wait and is the one that is asked for.
#[test]
fn an_inbound_test_shows_its_code_first() {
    let hub = FakeHub::start(|seen| {
        let code = seen.json()["code"].clone();
        (200, json!({"code": code, "received": true, "eventId": id("evt"), "path": ["step 23: queued"]}))
    });
    let mem = id("mem");
    let words = ["integration", "test", &mem, "--inbound", "--quiet"];
    let ran = run(&hub, &words);
    let code = hub.seen()[0].json()["code"].as_str().unwrap().to_owned();
    assert_eq!(code.len(), 6);
    assert!(ran.err.starts_with(&format!("write {code} in the conversation")), "{}", ran.err);
    assert!(ran.out.starts_with(&format!("received {code} as evt_")), "{}", ran.out);
    let lines = run(&hub, &["integration", "test", &mem, "--inbound", "--format", "ndjson"]).out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["code"], hub.seen()[1].json()["code"]);
}

/// An Agent is given `LOOM_SOCKET`; it counts before the data directory.
#[test]
fn the_socket_that_an_agent_was_given_comes_first() {
    let hub = FakeHub::always(200, json!({"ok": true, "rows": 1, "nodes": 2}));
    let mut env = hub.environment();
    let socket = format!("{}/run/loom.sock", env.variables["LOOM_HOME"]);
    env.variables.insert("LOOM_HOME".into(), "/nonexistent-loom-home".into());
    env.variables.insert("LOOM_SOCKET".into(), socket);
    assert_eq!(run_in(env, &["audit", "verify"]).out, "intact: 1 rows in 2 chains\n");
}
