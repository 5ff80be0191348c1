//! Tracing headers and the request log.

use std::sync::Arc;

use loom_transport::TraceContext;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::log::MemoryLog;

use crate::support::{Peer, builder, mocked, ok_json};
use loom_transport::MockBackend;

fn turn(id: &str) -> TraceContext {
    TraceContext {
        run_id: Some("op_1".into()),
        agent_id: Some("agt_a".to_owned()),
        turn_id: Some(id.to_owned()),
        trace_id: Some("0af7651916cd43dd8448eb211c80319c".to_owned()),
        ..TraceContext::default()
    }
}

fn trace_id(header: &http::HeaderValue) -> String {
    header.to_str().unwrap().split('-').nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn cap_054_a_public_host_sees_only_an_unrelated_trace() {
    let mock = Arc::new(MockBackend::new());
    let transport = builder()
        .backend(mock.clone())
        .trace_host("own.example")
        .trace_off_host("off.example")
        .build()
        .unwrap();
    mock.expect(Expectation::new("GET").times(3));
    for host in ["pub.example", "own.example", "off.example"] {
        transport.get(&format!("https://{host}/")).context(turn("trn_1")).send().await.unwrap();
    }
    let seen = mock.seen();
    for request in &seen {
        for name in ["traceparent", "x-loom-request-id", "x-loom-agent-id", "x-loom-turn-id"] {
            assert!(request.headers.contains_key(name), "mocks see {name}");
        }
    }
    let [public, own, off] = [&seen[0].wire_headers, &seen[1].wire_headers, &seen[2].wire_headers];
    assert!(public.keys().all(|k| !k.as_str().starts_with("x-loom")));
    assert_ne!(trace_id(&public["traceparent"]), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(trace_id(&own["traceparent"]), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(own["x-loom-turn-id"], "trn_1");
    assert!(!off.contains_key("traceparent"));
}

#[tokio::test]
async fn cap_055_outer_traces_are_per_turn_and_host() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").times(4));
    for (host, id) in
        [("a.example", "trn_1"), ("a.example", "trn_1"), ("b.example", "trn_1"), ("a.example", "trn_2")]
    {
        transport.get(&format!("https://{host}/")).context(turn(id)).send().await.unwrap();
    }
    let ids: Vec<String> = mock.seen().iter().map(|s| trace_id(&s.wire_headers["traceparent"])).collect();
    assert_eq!(ids[0], ids[1]);
    assert!(ids[0] != ids[2] && ids[0] != ids[3] && ids[2] != ids[3]);
}

#[tokio::test]
async fn cap_056_every_attempt_has_one_line_without_values() {
    let (transport, mock, log) = mocked();
    let throttle = Answer::status(503).header("x-request-id", "p-1").header("x-ratelimit-remaining", "4");
    mock.expect(Expectation::new("GET").answer(throttle).answer(Answer::status(200)));
    let request = transport
        .get("https://api.example/users/alice")
        .query("token", "hidden-value")
        .context(turn("trn_1"));
    request.header("x-note", "hidden-header").provider("p").operation("users.get").send().await.unwrap();
    let entries = log.entries();
    assert_eq!(
        entries.iter().map(|e| (e.attempt, e.status)).collect::<Vec<_>>(),
        [(1, Some(503)), (2, Some(200))]
    );
    assert_eq!(entries[0].query_keys, ["token"]);
    assert_eq!(entries[0].provider_request_id.as_deref(), Some("p-1"));
    assert_eq!(entries[0].rate.unwrap().remaining, Some(4));
    assert_eq!(entries[0].turn_id.as_deref(), Some("trn_1"));
    assert!(!serde_json::to_string(&entries).unwrap().contains("hidden"));
}

#[tokio::test]
async fn cap_056_the_log_shows_the_address_and_redacted_segments() {
    let peer = Peer::start([ok_json("1")]).await;
    let log = Arc::new(MemoryLog::default());
    let redact = |segment: &str| segment.replace("T0SECRET", "[redacted]");
    let transport = peer.builder().log(log.clone()).redact(redact).build().unwrap();
    transport.get(&peer.url("/hooks/T0SECRET")).send().await.unwrap();
    let entry = &log.entries()[0];
    assert_eq!(entry.path, "/hooks/[redacted]");
    assert_eq!(entry.address, Some(peer.address.to_string()));
    assert_eq!(entry.bytes_received, 1);
    assert!(peer.requests()[0].contains("x-loom-request-id: "), "loopback local origins see all");
}
