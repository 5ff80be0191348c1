//! Lines that must not end well, each with its code and exit status.

use super::{Placeholders, in_three_forms};
use crate::harness::{BOT_TOKEN, Scene, Setup, World};

/// Line, code, exit status.
const FAILURES: &[(&str, &str, i32)] = &[
    ("integration status con_x", "not_found", 1),
    ("integration status con_{GONE}", "not_found", 1),
    ("agent get nobody", "not_found", 1),
    ("conversation get mem_{GONE}", "not_found", 1),
    ("inbox get inb_{GONE}", "not_found", 1),
    ("outbox get out_{GONE}", "not_found", 1),
    ("inbox refused get evt_{GONE}", "not_found", 1),
    ("where slack:C0GENERAL/1.000001", "never_seen", 1),
    ("conversation get adr_{GONE}", "invalid_id", 2),
    ("integration enable {MEM}", "invalid_id", 2),
    ("inbox list --stat handled", "usage", 2),
    ("inboks", "usage", 2),
    ("agent create retry --runtime command -- /bin/cat", "reserved_name", 1),
    ("agent create {AGENT} --runtime command -- /bin/cat", "already_exists", 1),
    ("agent create other --runtime command --cwd relative -- /bin/cat", "invalid_argument", 2),
    ("agent update {AGENT}", "nothing_to_change", 2),
    ("agent archive {AGENT} --confirm {AGENT}", "lifecycle_blocked", 1),
    ("agent pause {AGENT} --expected-version 99", "version_conflict", 5),
    ("integration connect telegram --account A --credential-ref env:X", "invalid_argument", 2),
    ("integration connect slack --account A0001 --scope T0001 --credential-ref env:X", "already_exists", 1),
    (
        "integration connect slack --account A5 --credential-ref env:X --api-url http://example.com/",
        "insecure_transport",
        1,
    ),
    ("integration bind {AGENT} {CON} --identity slack://T0001/U0BOT", "identity_bound", 1),
    ("integration update-address {ADR}", "nothing_to_change", 2),
    ("integration update-address {ADR} --allow-actors @ann", "invalid_argument", 2),
    ("integration update-address {ADR} --dm-policy open --expected-version 99", "version_conflict", 5),
    ("conversation set {ADR} C0GENERAL --purpose x --expected-version 99", "version_conflict", 5),
    ("conversation set {ADR} C0GENERAL --purpose x --expected-version 0", "version_conflict", 5),
    ("conversation set {ADR} #general --type channel", "invalid_argument", 2),
    ("conversation set {ADR} oc_0123456789abcdef --type group", "invalid_argument", 2),
    ("conversation set {ADR} D0NEW --type dm", "actor_required", 1),
    ("conversation set {ADR} C0NEW --type channel --actor U0ANN", "actor_not_applicable", 1),
    ("conversation set {ADR} D0ANN --type channel", "immutable_field", 1),
    ("conversation set {ADR} D0ANN --actor U0BOB", "immutable_field", 1),
    ("conversation set {ADR} C0GENERAL --trust-domain other", "trust_conflict", 1),
    ("conversation archive {MEM}", "confirmation_required", 3),
    ("integration send --from {AGENT} --body x", "missing_field", 2),
    ("integration send --from {AGENT} --reply-to {INB} --to {MEM} --body x", "mutually_exclusive", 2),
    ("integration send --from {AGENT} --to {MEM} --body x", "idempotency_key_required", 2),
    ("integration send --from {AGENT} --to C0GENERAL --idempotency-key k --body x", "membership_required", 1),
    ("integration send --from {AGENT} --to {MEM} --idempotency-key k --body x", "proactive_not_allowed", 1),
    ("integration send --from {AGENT} --reply-to {INB} --body again", "already_decided", 1),
    ("inbox defer {INB} --until 2100-01-01T00:00:00Z", "already_decided", 1),
    ("inbox retry --all --state failed", "confirmation_required", 3),
    ("outbox retry --all --state failed", "confirmation_required", 3),
    ("inbox retry {INB}", "invalid_state", 1),
    ("outbox settle {OUT} --sent --confirm {OUT}", "invalid_state", 1),
    ("audit list --limit 501", "invalid_argument", 2),
];

#[tokio::test(flavor = "multi_thread")]
async fn msg_014_msg_016_msg_017_each_failure_has_its_code_its_status_and_its_hint() {
    let scene = Scene::new().await;
    let ids = Placeholders::of(&scene).await;
    let mut wrong = Vec::new();
    for (line, code, exit) in FAILURES {
        let output = super::run(&scene, &ids.words(line), &["--json"]).await;
        let found = serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap_or_default();
        if output.code != *exit || found["error"]["code"] != *code {
            wrong.push(format!("expected {code} ({exit}): {output}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (line, _, exit) in FAILURES.iter().step_by(7) {
        in_three_forms(&scene, &ids, line, *exit).await;
    }
    let near = scene.world.line("inbox list --stat handled").await;
    assert!(near.stderr.contains("--state"), "MSG-014: the nearest flag is named: {near}");
}

/// A conflict tells the current version and what differs, and nothing is written.
#[tokio::test(flavor = "multi_thread")]
async fn msg_064_msg_076_msg_077_a_version_conflict_shows_what_is_there() {
    let scene = Scene::new().await;
    let get = async || scene.json(&["conversation", "get", &scene.channel]).await;
    let version = get().await["version"].as_u64().unwrap();
    let stale = (version - 1).to_string();
    let set = ["conversation", "set", &scene.address, "C0GENERAL", "--guidance", "x", "--expected-version"];
    let with = |version: &str| {
        set.iter()
            .map(|word| (*word).to_owned())
            .chain([version.to_owned(), "--json".to_owned()])
            .collect::<Vec<_>>()
    };
    let run = async |words: Vec<String>| {
        scene.world.loom(&words.iter().map(String::as_str).collect::<Vec<_>>()).await
    };
    let error = run(with(&stale)).await.fails("version_conflict", 5);
    assert_eq!(error["detail"]["current_version"], version, "{error:#}");
    assert!(error["detail"]["current"].is_object() && error["detail"]["diff"].is_array(), "{error:#}");
    assert_eq!(get().await["version"], version);
    run(with(&version.to_string())).await.ok();
    let after = get().await;
    assert_eq!((&after["version"], &after["guidance"]), (&(version + 1).into(), &"x".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_024_msg_075_documents_are_checked_for_fields_and_secrets() {
    let scene = Scene::new().await;
    let work = scene.world.work();
    let write = |name: &str, text: &str| std::fs::write(work.join(name), text).unwrap();
    write(
        "good.json",
        r#"{"conversationType":"dm","actorId":"U0BOB","displayName":"Bob","purpose":"p","role":"r","guidance":"g","triggerPolicy":"direct","replyPolicy":"final_answer","outboundPolicy":"reply_only","enabled":false}"#,
    );
    write("odd.json", r#"{"conversationType":"dm","actorId":"U0BOB","colour":"red"}"#);
    let token = format!("xoxb-{}-{}", "1234567890123-1234567890123", "abcdefghijklmnopqrstuvwx");
    write("secret.json", &format!(r#"{{"guidance":"use {token}"}}"#));
    let set = async |name: &str| {
        let words =
            ["conversation", "set", &scene.address, "D0BOB", "--file", name, "--role", "flag", "--json"];
        scene.world.loom(&words).await
    };
    let done = set("good.json").await.ok().json();
    assert_eq!((&done["object"]["role"], &done["object"]["guidance"]), (&"flag".into(), &"g".into()));
    set("odd.json").await.fails("unknown_field", 2);
    let input = ["thread", "send", "echo", "--body", &token, "--json"];
    let connect =
        ["integration", "connect", "slack", "--account", "A7", "--credential-ref", &token, "--json"];
    let (input, connect) = (scene.world.loom(&input).await, scene.world.loom(&connect).await);
    for refused in [set("secret.json").await, input, connect] {
        refused.fails("secret_in_input", 1);
        assert!(!refused.stdout.contains(&token) && !refused.stderr.contains(&token), "echoed: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_017_without_a_hub_every_command_says_so() {
    let world = World::new(Setup::default()).await;
    for line in
        ["inbox", "status", "agent list", "integration status", "outbox --dead", "audit verify", "down"]
    {
        let words: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
        let error = world.loom(&words).await.fails("hub_unreachable", 7);
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("loom up")), "{error:#}");
    }
    for line in ["explain not_found", "skill print loom-integrations", "commands", "completions bash"] {
        world.line(line).await.ok();
    }
    assert_eq!(world.line("--version").await.ok().stdout.split_whitespace().next(), Some("loom"));
}

/// The value of a reference is neither read nor printed by the commands that handle the reference.
#[tokio::test(flavor = "multi_thread")]
async fn msg_023_the_value_of_a_reference_is_not_shown() {
    let scene = Scene::new().await;
    for line in ["integration list --json", "integration status --json", "audit list --json"] {
        let shown = scene.world.line(line).await.ok();
        assert!(!shown.stdout.contains(BOT_TOKEN), "{shown}");
    }
    assert!(scene.world.line("integration list --json").await.stdout.contains("env:SLACK_TWIN"));
}
