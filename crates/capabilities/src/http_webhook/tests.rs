use std::sync::Arc;

use loom_transport::MockBackend;
use loom_transport::backend::mock::{Answer, Expectation};

use super::*;
use crate::{NoObserver, Payload, World};

const URL: &str = "https://hooks.example/status?key=v";

async fn probe_in(world: &World, input: Value) -> Result<Payload> {
    let request = RunRequest { input, ..RunRequest::default() };
    crate::run(world, &HttpWebhook::new(), request, None, &mut NoObserver).await
}

async fn probe(answer: Answer, method: &str, input: Value) -> Payload {
    let backend = MockBackend::new();
    backend.expect(Expectation::new(method).host("hooks.example").path("/status").answer(answer));
    let backend = Arc::new(backend);
    let payload = probe_in(&World::over(backend.clone()), input).await.unwrap();
    backend.verify().unwrap();
    payload
}

fn code(payload: &Payload) -> Option<&'static str> {
    payload.error.as_ref().map(|error| error.code.as_str())
}

/// CAP-114: declared fields only; body values come out through a projection alone, from JSON and YAML alike.
#[tokio::test]
async fn cap_114_probes_give_declared_fields_only() {
    let facts = json!({"status": "up", "private": "PRIVATE", "n": [1, 2]});
    let plain = probe(Answer::json(&facts).header("x-private", "PRIVATE"), "GET", json!({"url": URL})).await;
    assert!(plain.ok, "{:?}", plain.error);
    assert_eq!((&plain.fields["status"], &plain.fields["body_kind"]), (&json!(200), &json!("json")));
    assert_eq!(plain.fields["body_sha256"], sha256_of_bytes(facts.to_string()));
    assert!(plain.fields["projected"].is_null());
    let text = serde_json::to_string(&plain).unwrap();
    assert!(!text.contains("PRIVATE") && !text.contains("key=v"), "{text}");

    let input = json!({"url": URL, "project": "{state: .status, sum: (.n | add)}"});
    let of_json = probe(Answer::json(&facts), "GET", input.clone()).await;
    let yaml = Answer::status(200).body("application/yaml", "status: up\nprivate: PRIVATE\nn: [1, 2]\n");
    let of_yaml = probe(yaml, "GET", input).await;
    assert_eq!(of_json.fields["projected"], json!({"state": "up", "sum": 3}));
    assert_eq!(of_json.fields["projected"], of_yaml.fields["projected"]);
    assert_eq!(of_yaml.fields["body_kind"], "text");
}

/// CAP-114: a POST is sent once and counted as a write; an agent needs an approval for it.
#[tokio::test]
async fn cap_114_a_post_is_a_write() {
    let input = json!({"url": URL, "method": "POST", "json": {"a": 1}, "project": ".ok"});
    let payload = probe(Answer::json(&json!({"ok": true})), "POST", input.clone()).await;
    assert_eq!((payload.ok, &payload.fields["projected"]), (true, &json!(true)));
    assert_eq!((payload.effects.external_writes, payload.effects.external_reads), (1, 0));
    let failed = probe(Answer::status(503), "POST", input).await;
    assert_eq!((code(&failed), failed.effects.requests_sent), (Some("provider_http_error"), 1));
    let head = probe(Answer::status(204), "HEAD", json!({"url": URL, "method": "HEAD"})).await;
    assert_eq!(head.fields["body_kind"], "empty");
}

/// A status that is not expected is a failure that still tells its fields.
#[tokio::test]
async fn unexpected_statuses_and_bodies_fail_with_their_code() {
    for (answer, expect, expected) in [
        (Answer::status(404), "200-299", Some("provider_http_error")),
        (Answer::status(404), "200-299,404", None),
        (Answer::status(200), "204", Some("provider_http_error")),
        (Answer::redirect(302, "https://evil.example/"), "200-299", Some("provider_redirect_refused")),
        (Answer::too_large(3 * 1024 * 1024), "200", Some("provider_response_too_large")),
    ] {
        let payload = probe(answer, "GET", json!({"url": URL, "expect_status": expect})).await;
        assert_eq!(code(&payload), expected, "{expect}");
    }
    let html = Answer::status(200).body("text/html", "<p>");
    let payload = probe(html, "GET", json!({"url": URL, "project": "."})).await;
    assert_eq!(
        (code(&payload), &payload.fields["body_kind"]),
        (Some("provider_protocol_error"), &json!("text"))
    );
    let endless = json!({"url": URL, "project": "last(repeat(.))"});
    let payload = probe(Answer::json(&json!({})), "GET", endless).await;
    assert_eq!(code(&payload), Some("provider_protocol_error"));
}

/// What may not be asked is refused before anything is sent.
#[tokio::test]
async fn hostile_inputs_send_nothing() {
    let backend = Arc::new(MockBackend::new());
    let world = World::over(backend.clone());
    for (input, expected) in [
        (json!({"url": "https://127.0.0.1/"}), "egress_denied"),
        (json!({"url": "https://10.0.0.1/"}), "egress_denied"),
        (json!({"url": "https://[::1]/"}), "egress_denied"),
        (json!({"url": "http://hooks.example/"}), "egress_denied"),
        (json!({"url": "https://u:p@hooks.example/"}), "egress_denied"),
        (json!({"url": "https://hooks.example:8443/"}), "egress_denied"),
        (json!({"url": "nonsense"}), "invalid_url"),
        (json!({"url": URL, "header": ["Authorization=Bearer x"]}), "secret_in_input"),
        (json!({"url": URL, "header": ["no value"]}), "invalid_input"),
        (json!({"url": URL, "json": {}}), "invalid_input"),
        (json!({"url": URL, "expect_status": "2xx"}), "invalid_input"),
        (json!({"url": URL, "project": "env"}), "invalid_input"),
        (json!({"url": URL, "auth": "cookie"}), "invalid_input"),
        (json!({"url": URL, "method": "DELETE"}), "invalid_input"),
    ] {
        let found = match probe_in(&world, input.clone()).await {
            Ok(payload) => code(&payload),
            Err(error) => Some(error.code.as_str()),
        };
        assert_eq!(found, Some(expected), "{input}");
    }
    assert!(backend.seen().is_empty());
}

/// CAP-111: a host that asks for time is not waited for: the attempt ends within its limit, and nothing is sent.
#[tokio::test(start_paused = true)]
async fn cap_111_an_attempt_does_not_outlast_its_limit_before_a_host_that_throttles() {
    let backend = Arc::new(MockBackend::new());
    let throttled = Answer::status(429).header("retry-after", "100");
    backend.expect(Expectation::new("POST").host("hooks.example").answer(throttled));
    let world = World::over(backend.clone());
    let transport = (world.door)(&world.meter, &[]).unwrap();
    let message = deliver::Message { body: "{}".to_owned(), headers: Vec::new() };
    let attempt = async |id: &str| {
        let now = loom_domain::Timestamp(0);
        deliver::attempt(&transport, &loom_secrets::Redactor::new(), URL, id, &message, &[], now)
            .await
            .unwrap()
    };
    assert_eq!(attempt("msg1").await.status, Some(429));
    let started = tokio::time::Instant::now();
    let waited = attempt("msg2").await;
    assert!(waited.status.is_none() && waited.error.is_some(), "{waited:?}");
    assert!(started.elapsed() <= std::time::Duration::from_secs(21), "{:?}", started.elapsed());
    assert_eq!(backend.seen().len(), 1);
}
