//! The retry table over peers and the mock.

use std::time::Duration;

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{Written, bytes_written};
use tokio::time::Instant;

use crate::support::{Act, Peer, mocked, ok_json, reply};

#[tokio::test]
async fn cap_043_get_is_retried_on_503() {
    let peer = Peer::start([reply("503 Busy", "", b""), ok_json("1")]).await;
    let response = peer.transport().get(&peer.url("/")).send().await.unwrap();
    assert_eq!((response.meta().attempts, peer.requests().len()), (2, 2));
}

#[tokio::test]
async fn cap_043_a_write_without_a_key_ends_unknown() {
    let peer = Peer::start([Act::Close]).await;
    let error = peer.transport().post(&peer.url("/")).json("x").send().await.unwrap_err();
    assert_eq!((error.code, error.attempts), (Code::OutcomeUnknown, Some(1)));
    assert_eq!(bytes_written(&error), Written::Maybe);
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn cap_043_a_write_with_a_key_repeats_the_same_key() {
    let peer = Peer::start([Act::Close, reply("502 Bad", "", b""), ok_json("1")]).await;
    let request = peer.transport().post(&peer.url("/")).idempotency_key("key-1").json("x");
    assert_eq!(request.send().await.unwrap().meta().attempts, 3);
    assert!(peer.requests().iter().all(|r| r.contains("idempotency-key: key-1\r\n")));
}

#[tokio::test]
async fn cap_043_a_refused_connection_is_retried_for_every_method() {
    for method in ["GET", "PUT", "POST"] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new(method).answer(Answer::refused()).answer(Answer::status(200)));
        let method = method.parse().unwrap();
        let response = transport.request(method, "https://api.example/").publish().send().await.unwrap();
        assert_eq!(response.meta().attempts, 2);
        mock.verify().unwrap();
    }
}

/// MSG-194: no HTTP layer repeats a publish call whose bytes may have arrived, not even with a key or after a throttle.
#[tokio::test]
async fn msg_194_a_publish_call_is_made_once() {
    let acts = [Act::Close, reply("500 Broken", "", b""), reply("429 Wait", "Retry-After: 0\r\n", b"")];
    for act in acts {
        let peer = Peer::start([act]).await;
        let request = peer.transport().post(&peer.url("/chat")).publish().idempotency_key("k").json("x");
        let error = request.send().await.unwrap_err();
        assert_eq!(bytes_written(&error), Written::Maybe);
        assert_eq!(peer.requests().len(), 1, "{error:?}");
    }
}

/// MSG-194: also on a connection that served another request before.
#[tokio::test]
async fn msg_194_a_publish_call_on_a_used_connection_is_made_once() {
    let peer = Peer::start([ok_json("1"), Act::Close]).await;
    let transport = peer.transport();
    transport.get(&peer.url("/")).send().await.unwrap();
    let error = transport.post(&peer.url("/chat")).publish().json("x").send().await.unwrap_err();
    assert_eq!(error.code, Code::OutcomeUnknown);
    assert_eq!(peer.requests().iter().filter(|r| r.starts_with("POST")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn cap_044_retry_after_is_waited_out() {
    let (transport, mock, _) = mocked();
    mock.expect(
        Expectation::new("GET")
            .answer(Answer::status(503).header("retry-after", "7"))
            .answer(Answer::status(200)),
    );
    let start = Instant::now();
    let response = transport.get("https://api.example/").send().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(7));
    assert_eq!(response.meta().waited_ms, 7_000);
}

#[tokio::test(start_paused = true)]
async fn cap_044_a_long_retry_after_fails_at_once() {
    for status in [429, 503] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::status(status).header("retry-after", "3600")));
        let start = Instant::now();
        let error = transport.get("https://api.example/").send().await.unwrap_err();
        assert_eq!((error.code, error.retry_after_ms), (Code::ProviderRateLimited, Some(3_600_000)));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttle_without_a_time_pauses_the_scope_and_no_other() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("POST").path("/a").answer(Answer::status(429)).answer(Answer::status(200)));
    mock.expect(Expectation::new("POST").path("/b"));
    let start = Instant::now();
    let throttled = transport.post("https://api.example/a").scope("a").send();
    let other = transport.post("https://api.example/b").scope("b").send();
    let (throttled, other) = tokio::join!(throttled, other);
    assert_eq!(other.unwrap().meta().waited_ms, 0);
    assert_eq!(throttled.unwrap().meta().attempts, 2);
    assert_eq!(start.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_paused_scope_opens_no_socket() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("POST").answer(Answer::status(429).header("retry-after", "100")));
    let post = || transport.post("https://api.example/").publish().deadline(Duration::from_secs(10));
    post().send().await.unwrap_err();
    let error = post().send().await.unwrap_err();
    assert_eq!((error.code, error.detail["limited_by"].as_str()), (Code::ProviderRateLimited, Some("local")));
    assert_eq!(bytes_written(&error), Written::No);
    assert_eq!(mock.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cap_045_a_dead_host_gets_few_extra_requests() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(Answer::refused()).times(1_000));
    let rate = loom_transport::Rate { per_second: 1_000.0, burst: 1_000, concurrency: 8 };
    for _ in 0..40 {
        transport.get("https://api.example/").rate(rate).send().await.unwrap_err();
    }
    assert_eq!(mock.seen().len(), 40 + 10);
}

#[tokio::test]
async fn no_other_answer_is_repeated() {
    for status in [400, 401, 403, 404, 409, 422, 501] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::status(status)));
        transport.get("https://api.example/").send().await.unwrap_err();
        assert_eq!(mock.seen().len(), 1);
    }
}
