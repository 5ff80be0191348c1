//! Lines that end well: reads change nothing, and a dry run changes nothing either.

use super::{Placeholders, in_three_forms, state_of};
use crate::harness::Scene;

/// Reads; each leaves everything as it is.
pub(super) const READS: &[&str] = &[
    "status",
    "agent list",
    "agent list --all",
    "agent list --state idle",
    "agent get {AGENT}",
    "thread show {AGENT}",
    "thread show {AGENT} --turns 1",
    "integration list",
    "integration list --provider slack --agent {AGENT} --archived",
    "integration status",
    "integration status {CON}",
    "integration status {CON} --check",
    "conversation list",
    "conversation list {AGENT} --address {ADR}",
    "conversation list {AGENT} --type dm --enabled true",
    "conversation list --pending",
    "conversation discover {AGENT}",
    "conversation discover {AGENT} --all",
    "conversation get {MEM}",
    "inbox",
    "inbox {AGENT}",
    "inbox list {AGENT} --state handled --origin slack --address {ADR} --since 1h --limit 1",
    "inbox {AGENT} --open",
    "inbox get {INB}",
    "inbox refused",
    "inbox refused {AGENT} --reason membership_missing --connection {CON} --conversation C0DOCS --actor U0ANN --since 1h",
    "inbox refused get {EVT}",
    "inbox refused --counts",
    "outbox",
    "outbox {AGENT}",
    "outbox list {AGENT} --state sent --address {ADR} --since 1h",
    "outbox --dead",
    "outbox get {OUT}",
    "where {INB}",
    "where {OUT}",
    "where {EVT}",
    "integration-branch",
    "integration-branch status",
    "periodic-report",
    "periodic-report preview --profile daily --window today --tz Europe/Berlin --lang zh",
    "periodic-report history",
    "periodic-report schedule list",
    "turn schedule list",
    "policy explain {EVT}",
    "policy explain {INB}",
    "policy explain --address {ADR} --conversation C0GENERAL --actor U0ANN --type channel --mentioned",
    "policy explain --address {ADR} --conversation D0X --actor U0X --type dm --direct --no-text",
    "notices",
    "notices list",
    "audit list",
    "audit list --since 0",
    "audit verify",
    "requests list",
    "requests list --host 127.0.0.1 --since 1h --limit 5",
    "explain version_conflict",
    "commands",
    "skill print loom-integrations",
    "schema",
    "schema loom.value_payload/v1",
    "value-connectors",
    "value-connectors list --ready",
    "value-connectors show github_public_probe",
    "value-connectors install-check",
    "value-connectors source-map",
    "value-connectors plan --connector http-webhook --url https://example.com/",
    "value-connectors history --limit 5",
    "value-connectors github-public-probe --url https://github.com/owner/repo/issues/123 --no-save",
    "value-connectors github-reply-monitor --no-save",
    "value-connectors finance-probe --no-save",
    "value-connectors lark-notify probe --no-save",
    "value-connectors lark-probe --no-save",
    "value-connectors http-webhook --no-save",
    "capability",
    "capability list --kind value_connector --effect read",
    "capability show github_public_channel",
    "capability grants {AGENT}",
    "value-connectors plans",
    "capability run github_public_probe --no-save",
    "value-connectors probe github-public-probe --no-save",
    "turn",
    "turn list --limit 5",
    "turn plan --connector github_public_probe --host opencode",
    "multi-agent",
    "multi-agent list",
    "host-mode-plan",
    "host-mode-plan --host opencode --connector github_public_probe",
    "host-mode-plan --host generic --host-name pi --intent watch_each_turn --no-detect",
];

/// Changes that are possible now; run dry they print a plan and change nothing.
const DRY: &[&str] = &[
    "agent create other --runtime command -- /bin/cat",
    "agent rename {AGENT} echo2",
    "agent update {AGENT} --model m2 --max-turn 1h",
    "agent update {AGENT} --on-interrupted rerun --on-oversize fail",
    "agent update {AGENT} --new-thread --yes",
    "agent pause {AGENT}",
    "agent archive {AGENT} --with-addresses --confirm {AGENT}",
    "thread send {AGENT} --body hello",
    "integration connect slack --account A9 --credential-ref keychain:loom.slack.A9",
    "integration connect lark --account cli_a --credential-ref env:LARK --brand lark",
    "integration update-connection {CON} --proxy-url http://127.0.0.1:9",
    "integration bind {AGENT} {CON} --identity slack://T0001/U9 --trigger mention",
    "integration update-address {ADR} --dm-policy closed --block-actors U0123,U0456",
    "integration disable {ADR}",
    "integration disable {CON}",
    "integration send --from {AGENT} --to {MEM} --idempotency-key k9 --body hello",
    "conversation set {ADR} C0NEW --type channel --name a~name --guidance be~brief",
    "conversation set {ADR} C0GENERAL --outbound-policy proactive --quiet-hours Europe/Berlin,22:00,07:00",
    "conversation disable {MEM}",
    "conversation archive {MEM} --confirm {MEM}",
    "inbox refused replay {EVT}",
    "periodic-report schedule add monday --cron 0~9~*~*~1 --tz Europe/Berlin --window last-week --to {MEM} --enable",
];

/// MSG-001, MSG-005.
#[tokio::test(flavor = "multi_thread")]
async fn msg_001_msg_005_msg_019_reads_run_in_three_forms_and_change_nothing() {
    let scene = Scene::new().await;
    let ids = Placeholders::of(&scene).await;
    let before = state_of(&scene).await;
    for line in READS {
        in_three_forms(&scene, &ids, line, 0).await;
    }
    assert_eq!(state_of(&scene).await, before);
}

/// `integration send --dry-run` needs a proactive Membership; everything else is dry from the start.
#[tokio::test(flavor = "multi_thread")]
async fn msg_020_a_dry_run_of_each_change_prints_a_plan_and_changes_nothing() {
    let scene = Scene::new().await;
    let ids = Placeholders::of(&scene).await;
    let set =
        ["conversation", "set", &scene.address, "C0GENERAL", "--outbound-policy", "proactive", "--json"];
    scene.world.loom(&set).await.ok();
    let before = state_of(&scene).await;
    let calls = scene.world.twin.requests_of("chat.postMessage").len();
    for line in DRY {
        in_three_forms(&scene, &ids, &dry(line), 0).await;
    }
    assert_eq!(state_of(&scene).await, before);
    assert_eq!(scene.world.twin.requests_of("chat.postMessage").len(), calls);
}

/// The life of a Membership, an item and an Agent, with the human lines of the specification.
#[tokio::test(flavor = "multi_thread")]
async fn msg_001_changes_say_what_they_did() {
    let scene = Scene::new().await;
    let run = async |line: String| scene.world.line(&line).await.ok();
    let (adr, mem) = (&scene.address, &scene.channel);
    let set = run(format!("conversation set {adr} C0GENERAL --guidance brief")).await;
    assert!(
        set.stdout.starts_with(&format!("updated {mem} v")) && set.stdout.contains("(guidance)"),
        "{set}"
    );
    let cleared = run(format!("conversation set {adr} C0GENERAL --clear guidance --json")).await.json();
    assert_eq!(cleared["object"]["guidance"].as_str().unwrap_or_default(), "", "MSG-018: {cleared:#}");
    run("agent pause echo".to_owned()).await;
    scene.ann_writes("to defer");
    let id = scene.item_is("to defer", "queued").await["item"]["id"].as_str().unwrap().to_owned();
    for when in ["--until 2001-01-01T00:00:00Z", "--for 31d"] {
        let refused = scene.world.line(&format!("inbox defer {id} {when} --json")).await;
        refused.fails("invalid_time", 2);
    }
    run(format!("inbox defer {id} --for 1h --reason later")).await;
    scene.item_is("to defer", "deferred").await;
    run(format!("inbox no-reply {id} --reason done")).await;
    run(format!("inbox no-reply {id} --reason done")).await;
    scene.item_is("to defer", "handled").await;
    scene.ann_writes("to cancel");
    let id = scene.item_is("to cancel", "queued").await["item"]["id"].as_str().unwrap().to_owned();
    run(format!("inbox cancel {id} --reason gone")).await;
    scene.ann_writes("to answer");
    let id = scene.item_is("to answer", "queued").await["item"]["id"].as_str().unwrap().to_owned();
    let sent = run(format!("inbox reply {id} --body by-hand")).await;
    assert!(sent.stdout.starts_with("sent out_"), "{sent}");
    run("agent resume echo".to_owned()).await;
    let asked = run("thread send echo --wait --body owner-input --json".to_owned()).await.json();
    assert_eq!(asked["answer"], "echo: owner-input", "{asked:#}");
    let renamed = run("agent rename echo parrot --json".to_owned()).await.json();
    assert_eq!(renamed["object"]["name"], "parrot");
    let dash = scene.world.loom(&["thread", "send", "parrot", "--wait", "--body=--x", "--json"]).await.ok();
    assert_eq!(dash.json()["answer"], "echo: --x", "MSG-015: {dash}");
}

/// Puts `--dry-run` before the command that an Agent runs.
fn dry(line: &str) -> String {
    match line.split_once(" -- ") {
        Some((flags, command)) => format!("{flags} --dry-run -- {command}"),
        None => format!("{line} --dry-run"),
    }
}
