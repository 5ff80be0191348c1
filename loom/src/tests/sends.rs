//! Sends: what is asked of the hub and how their end is told.

use serde_json::{Value, json};

use super::{FakeHub, id, run};

fn item(state: &str) -> Value {
    json!({"id": id("out"), "state": state, "stateReason": null, "lastError": null, "parts": [
        {"n": 1, "kind": "text", "state": state, "receipt": {"externalMessageId": "170.3", "externalFileId": null}}]})
}

fn reply(state: &'static str, form: &str) -> super::Ran {
    let hub = FakeHub::always(200, item(state));
    let inb = id("inb");
    run(
        &hub,
        &[
            "integration",
            "send",
            "--from",
            "docs",
            "--reply-to",
            &inb,
            "--timeout",
            "1s",
            "--format",
            form,
            "hi",
        ],
    )
}

#[test]
fn each_end_has_its_exit_status_and_code() {
    for (state, exit, code) in [
        ("failed", 1, "delivery_failed"),
        ("expired", 1, "delivery_expired"),
        ("cancelled", 1, "delivery_cancelled"),
        ("unknown", 3, "delivery_unknown"),
        ("held", 3, "delivery_held"),
    ] {
        let ran = reply(state, "json");
        assert_eq!((ran.exit, ran.json()["code"].as_str()), (exit, Some(code)), "{state}");
        assert_eq!(ran.json()["id"], json!(id("out")));
    }
    let ran = reply("sent", "json");
    assert_eq!((ran.exit, ran.json().get("code").cloned()), (0, None));
}

/// MSG-165: a send that is still open at the time-out is exit 4; nothing is cancelled.
#[test]
fn msg_165_pending_at_the_time_out() {
    let ran = reply("sending", "json");
    assert_eq!((ran.exit, ran.json()["code"].clone()), (4, json!("delivery_pending")));
}

#[test]
fn people_see_each_part() {
    let ran = reply("sent", "human");
    assert_eq!(
        ran.out,
        format!(
            "sent {} (1/1)\nPART  KIND  STATE  EXTERNAL-MESSAGE  EXTERNAL-FILE\n   1  text  sent   170.3             -\n",
            id("out")
        )
    );
}

/// MSG-166, MSG-241: a file is announced, then uploaded with its digest, then named in the send.
#[test]
fn msg_241_files_are_announced_and_uploaded_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.txt").to_string_lossy().into_owned();
    std::fs::write(&path, "abc").unwrap();
    let hub = FakeHub::start(|seen| match seen.path.as_str() {
        "/v1/send/admission" => (200, json!({"admitted": true, "parts": 2})),
        "/v1/artifacts" => (201, json!({"id": id("art")})),
        _ => (200, item("sent")),
    });
    let inb = id("inb");
    let words = ["inbox", "reply", &inb, "--file", &path, "here"];
    assert_eq!(run(&hub, &words).exit, 0);
    let seen = hub.seen();
    let paths: Vec<&str> = seen.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["/v1/send/admission", "/v1/artifacts", &format!("/v1/inbox/{inb}/reply")]);
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(seen[0].json()["content"]["files"], json!([{"name": "r.txt", "sha256": digest, "size": 3}]));
    assert_eq!(seen[1].query, format!("name=r.txt&sha256={digest}&size=3"));
    assert_eq!(&seen[1].body[..], b"abc");
    assert_eq!(seen[2].json()["content"]["files"], json!([{"artifactId": id("art"), "name": "r.txt"}]));
}

/// A refused send leaves no copy: admission comes before the upload.
#[test]
fn msg_168_a_refused_send_uploads_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.txt").to_string_lossy().into_owned();
    std::fs::write(&path, "abc").unwrap();
    let body = json!({"code": "capability_missing", "message": "no files there", "retryable": false});
    let hub = FakeHub::always(409, body);
    let inb = id("inb");
    let ran = run(
        &hub,
        &["integration", "send", "--from", "docs", "--reply-to", &inb, "--file", &path, "--json", "x"],
    );
    assert_eq!((ran.exit, ran.code().as_str(), hub.seen().len()), (1, "capability_missing", 1));
}

/// MSG-020: `--dry-run` on a send only asks for admission.
#[test]
fn msg_020_dry_run_sends_nothing() {
    let hub = FakeHub::always(200, json!({"admitted": true, "parts": 1}));
    let inb = id("inb");
    let ran = run(&hub, &["integration", "send", "--from", "docs", "--reply-to", &inb, "--dry-run", "hi"]);
    assert_eq!((ran.exit, ran.out.trim()), (0, "dry run, nothing sent: admitted, 1 parts"));
    assert_eq!(hub.seen().len(), 1);
}
