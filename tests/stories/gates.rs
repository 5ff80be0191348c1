//! External writes of connectors: planned, approved byte by byte, run once; and what an Agent may do of it.

mod agents;
mod service;

use std::time::Duration;

use serde_json::Value;

use crate::harness::{Output, SOON, Setup, World, eventually};
use service::{Mood, Service};

/// A connector that comments on tickets.
const MAP: &str = r#"
schema_version: loom.source_map/v1
id: tickets
version: 1.0.0
title: Tickets
boundary: gated_write
egress: {hosts: [{host: tickets.example, methods: [GET, POST]}]}
resources: {ticket: /ticket}
inputs: {type: object, additionalProperties: false, required: [ticket], properties: {ticket: {type: string, pattern: "^[0-9]{1,9}$", maxLength: 9}, text: {type: string, maxLength: 1000, default: ""}}}
operations:
  - id: probe
    effect: read
    request: {method: GET, url: "https://tickets.example/tickets/{ticket}"}
    response: {format: json, max_bytes: 65536, expect_status: [201]}
    projection: "{id}"
    fields: {id: {type: string, max: 64}}
  - id: comment
    effect: write
    gate: exact
    idempotency: {header: X-Request-Key}
    request: {method: POST, url: "https://tickets.example/tickets/{ticket}/comments", json: {text: "{text}"}}
    response: {format: json, max_bytes: 65536, expect_status: [201]}
    projection: "{id}"
    fields: {id: {type: string, max: 64}}
tests:
  - {name: probes, operation: probe, input: {ticket: "1"}, exchanges: [{request: {path: /tickets/1}, response: {status: 201, json: {id: t1}}}], expect: {ok: true}}
  - {name: comments, operation: comment, input: {ticket: "1", text: hi}, exchanges: [{request: {method: POST, path: /tickets/1/comments, json: {text: hi}}, response: {status: 201, json: {id: c1}}}], expect: {ok: true}}
"#;

/// A hub, and a service that its owner's connector writes to.
struct Desk {
    world: World,
    service: Service,
}

/// A plan of one comment with its gate.
struct Planned {
    plan: String,
    gate: String,
    digest: String,
}

impl Desk {
    async fn open(mood: Mood) -> Self {
        let mut world = World::new(Setup::default()).await;
        world.up().await;
        install(&world, MAP).await;
        Desk { world, service: Service::start(mood).await }
    }

    async fn plan(&self, text: &str, more: &[&str]) -> Output {
        let mut words = vec!["value-connectors", "plan", "--connector", "local/tickets", "--op", "comment"];
        words.extend(["--ticket", "7", "--text", text, "--api-url", &self.service.url, "--json"]);
        words.extend(more);
        self.world.loom(&words).await
    }

    async fn submit(&self, text: &str) -> Planned {
        let plan = self.plan(text, &["--submit"]).await.ok().json();
        let gate = &plan["gates"][0];
        assert_eq!(gate["state"], "open");
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        Planned { plan: word(&plan["id"]), gate: word(&gate["id"]), digest: word(&gate["call_digest"]) }
    }

    async fn decide(&self, planned: &Planned, more: &[&str]) -> Output {
        let mut words = vec!["value-connectors", "approve", &planned.plan, "--gate", &planned.gate];
        words.extend(["--call-digest", &planned.digest, "--json"]);
        words.extend(more);
        self.world.loom(&words).await
    }

    async fn run(&self, planned: &Planned) -> Output {
        self.world.loom(&["value-connectors", "run", &planned.plan, "--json"]).await
    }

    /// The gate as it is now.
    async fn gate(&self, planned: &Planned) -> Value {
        let shown = self.world.loom(&["value-connectors", "show", &planned.plan, "--json"]).await.ok().json();
        let gates = shown["gates"].as_array().unwrap();
        gates.iter().find(|gate| gate["id"] == planned.gate.as_str()).cloned().unwrap()
    }

    /// The error of the only call that was run.
    async fn refused(&self, planned: &Planned, code: &str) -> Value {
        let output = self.run(planned).await;
        assert_eq!(output.code, 3, "{output}");
        let error = output.json()["runs"][0]["error"].clone();
        assert_eq!(error["code"], code, "{output}");
        error
    }
}

async fn install(world: &World, map: &str) {
    std::fs::write(world.work().join("tickets.yaml"), map).unwrap();
    world.line("value-connectors add tickets.yaml --json").await.ok();
}

/// CAP-115, CAP-119: planned, approved, run; a second use is refused, and nothing is sent twice.
#[tokio::test(flavor = "multi_thread")]
async fn cap_115_a_gated_write_is_planned_approved_and_run_once() {
    let desk = Desk::open(Mood::Answers).await;
    let dry = desk.plan("pay\u{200b}pal \u{202e}txt", &[]).await.ok().json();
    assert_eq!(dry["calls"][0]["content"], "\n{\"text\":\"pay\\u{200b}pal \\u{202e}txt\"}");
    assert_eq!((&dry["calls"][0]["gated"], &dry["calls"][0]["gate"]), (&true.into(), &Value::Null));
    let token = format!("ghp_{}", "a1B2".repeat(9));
    desk.plan(&token, &[]).await.fails("secret_in_input", 1);

    let planned = desk.submit("We are on it").await;
    desk.refused(&planned, "approval_required").await;
    let wrong = Planned { digest: format!("sha256:{}", "0".repeat(64)), ..desk.submit("x").await };
    desk.decide(&wrong, &[]).await.fails("approval_invalid", 3);
    desk.decide(&wrong, &["--dry-run"]).await.fails("approval_invalid", 3);
    desk.decide(&planned, &["--dry-run"]).await.ok();
    assert_eq!(desk.gate(&planned).await["state"], "open");
    assert_eq!(desk.service.comments(), 0);

    desk.decide(&planned, &["--expires", "15m"]).await.ok();
    let ran = desk.run(&planned).await.ok().json();
    assert_eq!((&ran["runs"][0]["outcome"], &ran["runs"][0]["ok"]), (&"confirmed".into(), &true.into()));
    assert_eq!(ran["runs"][0]["payload"]["fields"]["id"], "c1");
    let sent = desk.service.last().to_ascii_lowercase();
    assert!(sent.starts_with("post /tickets/7/comments http/1.1"), "{sent}");
    assert!(sent.contains(&format!("x-request-key: {}.call-1", planned.plan)), "{sent}");
    assert!(sent.ends_with("{\"text\":\"we are on it\"}"), "{sent}");

    let again = desk.refused(&planned, "approval_invalid").await;
    assert_eq!(again["detail"]["reason"], "used");
    desk.decide(&planned, &[]).await.fails("approval_invalid", 3);
    assert_eq!(desk.service.comments(), 1);
    desk.world.line("audit verify --json").await.ok();
}

/// CAP-115: when a byte of what would be sent is another one, the approval is not for it.
#[tokio::test(flavor = "multi_thread")]
async fn cap_115_changed_bytes_and_a_no_are_refused() {
    let desk = Desk::open(Mood::Answers).await;
    let planned = desk.submit("hello").await;
    desk.decide(&planned, &[]).await.ok();
    install(
        &desk.world,
        &MAP.replace("/comments\", json", "/replies\", json").replace("/1/comments", "/1/replies"),
    )
    .await;
    let error = desk.refused(&planned, "approval_invalid").await;
    assert_eq!(error["detail"]["reason"], "other_bytes");
    install(&desk.world, MAP).await;
    desk.decide(&planned, &["--deny", "--reason", "changed my mind"]).await.ok();
    assert_eq!(desk.refused(&planned, "approval_invalid").await["detail"]["reason"], "denied");
    assert_eq!((desk.gate(&planned).await["state"].as_str(), desk.service.comments()), (Some("denied"), 0));
}

/// CAP-116: an approval that ran out is refused, and told once.
#[tokio::test(flavor = "multi_thread")]
async fn cap_116_an_expired_approval_is_refused_and_told_once() {
    let desk = Desk::open(Mood::Answers).await;
    let planned = desk.submit("too late").await;
    desk.decide(&planned, &["--expires", "1m"]).await.ok();
    eventually("an expired gate", Duration::from_secs(150), async || {
        (desk.gate(&planned).await["state"] == "expired").then_some(())
    })
    .await;
    assert_eq!(desk.refused(&planned, "approval_invalid").await["detail"]["reason"], "expired");
    assert_eq!(desk.service.comments(), 0);
    let audit = desk.world.loom(&["audit", "list", "--limit", "500", "--json"]).await.ok().json();
    let rows = audit["items"].as_array().unwrap();
    let told = rows.iter().filter(|row| row["action"] == "gate.expired").count();
    assert_eq!(told, 1);
}

/// CAP-118: a lost answer is unknown, is never sent again, and is settled by the owner's word.
#[tokio::test(flavor = "multi_thread")]
async fn cap_118_a_lost_answer_is_unknown_and_never_sent_twice() {
    let desk = Desk::open(Mood::LosesAnswers).await;
    let planned = desk.submit("hello?").await;
    desk.decide(&planned, &[]).await.ok();
    let lost = desk.run(&planned).await;
    assert_eq!(
        (lost.code, lost.json()["runs"][0]["outcome"].as_str()),
        (4, Some("outcome_unknown")),
        "{lost}"
    );
    desk.refused(&planned, "approval_invalid").await;
    desk.decide(&planned, &["--settle", "not-sent"]).await.ok();
    let gate = desk.gate(&planned).await;
    assert_eq!((&gate["outcome"], &gate["settled_by_owner"]), (&"refused".into(), &true.into()));
    desk.decide(&planned, &["--settle", "sent"]).await.fails("approval_invalid", 3);
    desk.refused(&planned, "approval_invalid").await;
    assert_eq!(desk.service.comments(), 1);
    let refusing = Desk::open(Mood::Refuses).await;
    let planned = refusing.submit("no").await;
    refusing.decide(&planned, &[]).await.ok();
    let no = refusing.run(&planned).await;
    assert_eq!((no.code, no.json()["runs"][0]["outcome"].as_str()), (4, Some("refused")), "{no}");
}

/// CAP-116, CAP-118: approvals survive a kill; a kill around the request leaves an unknown fate, never a second one.
#[tokio::test(flavor = "multi_thread")]
async fn cap_118_a_kill_around_the_request_leaves_an_unknown_fate() {
    let mut desk = Desk::open(Mood::Answers).await;
    let planned = [desk.submit("a").await, desk.submit("b").await, desk.submit("c").await];
    desk.decide(&planned[1], &[]).await.ok();
    let mut sent = 0;
    for (point, gate, reaches) in [("gate.before_send", &planned[1], 0), ("gate.after_send", &planned[2], 1)]
    {
        desk.world.kill().await;
        desk.world.up_with(&[("LOOM_FAILPOINTS", &format!("{point}=kill"))]).await;
        if gate.gate == planned[2].gate {
            desk.decide(gate, &[]).await.ok();
        }
        desk.run(gate).await;
        let mut hub = desk.world.hub.take().unwrap();
        assert_eq!(hub.wait().await, -9, "{point}");
        desk.world.up().await;
        sent += reaches;
        let unknown = eventually("an unknown fate", SOON, async || {
            let found = desk.gate(gate).await;
            (found["outcome"] == "outcome_unknown").then_some(found)
        })
        .await;
        assert_eq!(unknown["state"], "used");
        desk.refused(gate, "approval_invalid").await;
        let word = if reaches == 1 { "sent" } else { "not-sent" };
        desk.decide(gate, &["--settle", word]).await.ok();
        assert_eq!(desk.service.comments(), sent, "{point}");
    }
    assert_eq!(desk.gate(&planned[0]).await["state"], "open", "an approval touches only the gate it names");
    let notices = desk.world.line("notices list --json").await.ok().json();
    let told = notices["items"].as_array().unwrap().iter().filter(|one| one["kind"] == "outcome_unknown");
    assert_eq!(told.count(), 2);
}
