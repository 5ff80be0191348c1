use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use loom_domain::connector_plan::{CallOrder, PlanFile};
use loom_domain::gate::Outcome;
use loom_domain::{AgentId, Code, Error, Principal, Result};
use loom_transport::MockBackend;
use loom_transport::backend::mock::{Answer, Expectation};
use serde_json::{Value, json};

use super::*;
use crate::{Catalog, NoObserver, parse_source_map};

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
    response: {format: json, max_bytes: 65536, expect_status: [200]}
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
  - {name: probes, operation: probe, input: {ticket: "1"}, exchanges: [{request: {path: /tickets/1}, response: {status: 200, json: {id: t1}}}], expect: {ok: true}}
  - {name: comments, operation: comment, input: {ticket: "1", text: hi}, exchanges: [{request: {method: POST, path: /tickets/1/comments, json: {text: hi}}, response: {status: 201, json: {id: c1}}}], expect: {ok: true}}
"#;

/// A book with one approval.
#[derive(Default)]
struct Book {
    digest: String,
    log: Mutex<Vec<String>>,
}

#[async_trait]
impl GateBook for Book {
    async fn begin(&self, gate: &str, digest: &str, _: &str) -> Result<()> {
        self.log.lock().unwrap().push(format!("begin {gate}"));
        match digest == self.digest && self.log.lock().unwrap().len() == 1 {
            true => Ok(()),
            false => Err(Error::new(Code::ApprovalInvalid, "not this one")),
        }
    }
    async fn end(&self, gate: &str, outcome: Outcome, _: Option<String>) -> Result<()> {
        self.log.lock().unwrap().push(format!("{outcome} {gate}"));
        Ok(())
    }
}

fn catalog() -> Catalog {
    Catalog::builtin().with([Arc::new(parse_source_map(MAP).unwrap()) as Arc<dyn Capability>])
}

fn comment(text: &str) -> CallOrder {
    CallOrder {
        connector: "tickets".to_owned(),
        operation: Some("comment".to_owned()),
        input: json!({"ticket": "7", "text": text}),
        ..CallOrder::default()
    }
}

async fn prepared(world: &World, order: &CallOrder) -> Result<Prepared> {
    prepare(world, &catalog(), "op_plan", "call-1", order).await
}

fn mock() -> (Arc<MockBackend>, World) {
    let backend = Arc::new(MockBackend::new());
    let mut world = World::over(backend.clone());
    world.key = Arc::new(|| Ok([0; 32]));
    (backend, world)
}

/// CAP-115: a program that builds on this library writes nothing: it has no approval, and can name none.
#[tokio::test]
async fn cap_115_without_a_book_nothing_gated_is_sent() {
    let (backend, world) = mock();
    let prepared = prepared(&world, &comment("hello")).await.unwrap();
    for request in [prepared.request(None), prepared.request(Some("apr_made_up"))] {
        let refused = crate::run(&world, &*prepared.capability, request.clone(), None, &mut NoObserver).await;
        assert_eq!(refused.unwrap_err().code, Code::ApprovalRequired);
        // Nor by going around the run.
        let operation = prepared.capability.entry().find_operation("comment").unwrap();
        let cx =
            crate::Cx::new(&world, prepared.capability.entry(), operation, &request.settings, request.limits);
        let mut sink = Nowhere;
        let refused = prepared.capability.run(&cx, request, &mut sink).await.unwrap_err();
        assert_eq!(refused.code, Code::ApprovalRequired);
    }
    assert!(backend.seen().is_empty());
}

struct Nowhere;

impl crate::Sink for Nowhere {
    fn item(&mut self, _: Value) -> crate::Flow {
        crate::Flow::Continue
    }
    fn fields(&mut self, _: Value) {}
    fn progress(&mut self, _: u64, _: Option<u64>) {}
    fn notice(&mut self, _: crate::Notice) {}
    fn checkpoint(&mut self, _: &crate::Cursor) {}
}

/// CAP-115: the intent comes before the request, the outcome after it; a second use is refused.
#[tokio::test]
async fn cap_115_a_gated_call_runs_once() {
    let (backend, mut world) = mock();
    backend.expect(
        Expectation::new("POST")
            .path("/tickets/7/comments")
            .header("x-request-key", "op_plan.call-1")
            .json(json!({"text": "hello"}))
            .answer(Answer::json(&json!({"id": "c9"})).with_status(201)),
    );
    let prepared = prepared(&world, &comment("hello")).await.unwrap();
    let book = Arc::new(Book { digest: prepared.call.call_digest.clone(), ..Book::default() });
    world.gates = Some(book.clone());
    let run = async || {
        crate::run(&world, &*prepared.capability, prepared.request(Some("g1")), None, &mut NoObserver).await
    };
    let payload = run().await.unwrap();
    assert_eq!(
        (payload.ok, payload.fields["id"].as_str(), payload.effects.external_writes),
        (true, Some("c9"), 1)
    );
    assert_eq!(run().await.unwrap_err().code, Code::ApprovalInvalid);
    assert_eq!(*book.log.lock().unwrap(), ["begin g1", "confirmed g1", "begin g1"]);
    assert_eq!(backend.seen().len(), 1);
    backend.verify().unwrap();
}

/// CAP-115: content, target, identity and key are all in the digest, and nothing in an identity hides.
#[tokio::test]
async fn cap_115_every_changed_byte_changes_the_digest() {
    let (_, world) = mock();
    let mut orders = vec![comment("hello"), comment("hello "), comment("hell\u{43e}")];
    orders.push(CallOrder { sender_identity: Some("bot".to_owned()), ..comment("hello") });
    orders.push(CallOrder { idempotency_key: Some("k".to_owned()), ..comment("hello") });
    orders.push(CallOrder { input: json!({"ticket": "8", "text": "hello"}), ..comment("") });
    orders.push(CallOrder { api_url: Some("http://127.0.0.1:1".to_owned()), ..comment("hello") });
    let mut digests = std::collections::BTreeSet::new();
    for order in &orders {
        digests.insert(prepared(&world, order).await.unwrap().call.call_digest);
    }
    assert_eq!(digests.len(), orders.len());
    let hidden = CallOrder { sender_identity: Some("b\u{200b}ot".to_owned()), ..comment("hello") };
    assert_eq!(prepared(&world, &hidden).await.unwrap_err().detail["pointer"], "/sender_identity");
    let again = prepared(&world, &comment("hello")).await.unwrap().call;
    assert!(digests.contains(&again.call_digest), "the same call has the same digest");
    assert_eq!((again.gated, again.effect.as_str(), again.readiness.as_str()), (true, "write", "ready"));
    assert_eq!(again.content.as_deref(), Some("\n{\"text\":\"hello\"}"));
    assert_eq!(again.resources["ticket"], "7");
}

/// CAP-117, CAP-119: agents choose no base URL; secrets are refused; nothing but the calls is needed.
#[tokio::test]
async fn cap_119_a_plan_needs_no_notes_and_takes_no_secrets() {
    let (_, mut world) = mock();
    let shown = prepared(&world, &comment("a\u{202e}b")).await.unwrap().call.content.unwrap();
    assert_eq!(shown, "\n{\"text\":\"a\\u{202e}b\"}");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    assert_eq!(prepared(&world, &comment(&token)).await.unwrap_err().code, Code::SecretInInput);
    let plan = parse_plan("calls: [{connector: tickets, operation: comment, input: {ticket: '7'}}]").unwrap();
    assert_eq!(plan.calls.len(), 1);
    let noted = |text: &str| PlanFile { objective: Some(text.to_owned()), ..plan.clone() };
    assert!(check_plan(&noted("answer the customer")).is_ok());
    assert_eq!(check_plan(&noted(&token)).unwrap_err().code, Code::SecretInInput);
    assert_eq!(check_plan(&noted(&"x".repeat(401))).unwrap_err().code, Code::InvalidInput);
    let notes = |names: &[String]| names.iter().map(|name| (name.clone(), "x".to_owned())).collect();
    let named = |names: &[String]| PlanFile { notes: notes(names), ..plan.clone() };
    let many: Vec<String> = (0..17).map(|n| format!("n{n}")).collect();
    assert!(check_plan(&named(&many[..16])).is_ok());
    assert_eq!(check_plan(&named(&many)).unwrap_err().code, Code::InvalidInput);
    assert_eq!(check_plan(&named(&["n".repeat(49)])).unwrap_err().code, Code::InvalidInput);
    world.principal = Principal::Agent(AgentId::new(1, 1));
    let elsewhere = CallOrder { api_url: Some("https://evil.example".to_owned()), ..comment("x") };
    assert_eq!(prepared(&world, &elsewhere).await.unwrap_err().code, Code::Forbidden);
}

/// CAP-118: what an answer does not rule out is unknown.
#[test]
fn cap_118_the_outcome_is_what_is_known() {
    let sent = Effects { requests_sent: 1, ..Effects::default() };
    let status = |status: u16| {
        let mut error = Error::new(Code::ProviderHttpError, "no");
        error.http_status = Some(status);
        error
    };
    assert_eq!(outcome(&Effects { external_writes: 1, ..sent }, None), Outcome::Confirmed);
    assert_eq!(outcome(&Effects { external_writes_unknown: 1, ..sent }, None), Outcome::OutcomeUnknown);
    assert_eq!(outcome(&Effects::default(), Some(&status(500))), Outcome::Refused, "nothing was sent");
    assert_eq!(outcome(&sent, Some(&status(422))), Outcome::Refused);
    assert_eq!(outcome(&sent, Some(&status(503))), Outcome::OutcomeUnknown);
}
