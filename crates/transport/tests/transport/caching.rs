//! Conditional requests and what is kept for them.

use std::sync::Arc;

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::log::MemoryLog;
use loom_transport::{
    CacheKey, CacheMode, CredentialBinding, MockBackend, ProjectionDir, SecretText, Transport,
};
use serde_json::{Value, json};

use crate::support::builder;

const URL: &str = "https://api.example/x";

fn transport(mock: &Arc<MockBackend>, home: &std::path::Path) -> (Transport, Arc<MemoryLog>) {
    let log = Arc::new(MemoryLog::default());
    let store = Arc::new(ProjectionDir::new(home));
    let built = builder().backend(Arc::clone(mock) as _).log(Arc::clone(&log) as _).projections(store);
    (built.installation_key([7; 32]).build().unwrap(), log)
}

fn key(digest: &str) -> CacheKey {
    CacheKey { projection_digest: digest.into(), ..CacheKey::default() }
}

fn tagged() -> Answer {
    Answer::json(&json!({"n": 1, "body": "canary-body"}))
        .header("etag", "W/\"1\"")
        .header("last-modified", "Mon, 30 Nov 2026 06:00:00 GMT")
}

/// How many requests asked conditionally.
fn conditional(mock: &MockBackend) -> Vec<bool> {
    let asks = |headers: &http::HeaderMap| headers.contains_key("if-none-match");
    mock.seen().iter().map(|seen| asks(&seen.wire_headers)).collect()
}

#[tokio::test]
async fn cap_047_a_second_get_asks_conditionally_and_the_body_comes_out_of_memory() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    let (transport, log) = transport(&mock, home.path());
    mock.expect(Expectation::new("GET").answer(tagged()));
    mock.expect(
        Expectation::new("GET")
            .header("if-none-match", "W/\"1\"")
            .header("if-modified-since", "Mon, 30 Nov 2026 06:00:00 GMT")
            .answer(Answer::status(304)),
    );
    let first = transport.get(URL).cache(key("a")).send().await.unwrap();
    assert!(!first.meta().from_cache);
    let second = transport.get(URL).cache(key("a")).send().await.unwrap();
    assert_eq!((second.status(), second.bytes()), (200, first.bytes()));
    assert!(second.meta().from_cache && second.meta().request_id != first.meta().request_id);
    assert_eq!(log.entries().iter().map(|e| e.from_cache).collect::<Vec<_>>(), [false, true]);
    mock.verify().unwrap();
}

#[tokio::test]
async fn cap_047_a_later_process_finds_the_projection_and_no_body_on_disk() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    mock.expect(Expectation::new("GET").answer(tagged()).answer(Answer::status(304)));
    let (first, _) = transport(&mock, home.path());
    let response = first.get(URL).cache(key("a")).send().await.unwrap();
    first.remember(&response, &json!({"n": 1}));
    let (later, _) = transport(&mock, home.path());
    let response = later.get(URL).cache(key("a")).send().await.unwrap();
    assert_eq!((response.status(), response.meta().from_cache), (304, true));
    assert_eq!(response.projection(), Some(&json!({"n": 1})));
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("canary-body"), "{text}");
    }
}

#[tokio::test]
async fn another_projection_credential_query_or_a_refresh_asks_for_everything() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    let (transport, _) = transport(&mock, home.path());
    mock.expect(Expectation::new("GET").answer(tagged()).times(9));
    let get = || transport.get(URL);
    let token = CredentialBinding::bearer(SecretText::new("canary-value"), ["api.example:443"]);
    let refresh = CacheKey { mode: CacheMode::Refresh, ..key("a") };
    let unasked = CacheKey { mode: CacheMode::NoCache, ..key("a") };
    for request in [
        get().cache(key("a")),
        get().cache(key("b")),
        get().query("q", "1").cache(key("a")),
        get().header("accept", "text/plain").cache(key("a")),
        get().credential(token).cache(key("a")),
        get().cache(refresh),
        get(),
        get().cache(unasked),
    ] {
        request.send().await.unwrap();
    }
    assert_eq!(conditional(&mock), [false, false, false, false, false, false, false, true]);
}

#[tokio::test]
async fn no_store_is_honoured_and_forgets_what_was_kept() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    let (transport, _) = transport(&mock, home.path());
    let secret = tagged().header("cache-control", "private, No-Store");
    mock.expect(Expectation::new("GET").answer(tagged()).answer(secret).times(3));
    for _ in 0..3 {
        let response = transport.get(URL).cache(key("a")).send().await.unwrap();
        transport.remember(&response, &Value::Null);
    }
    assert_eq!(conditional(&mock), [false, true, false]);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_an_error() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    let (transport, _) = transport(&mock, home.path());
    mock.expect(Expectation::new("GET").answer(Answer::status(304)).times(3));
    for request in [transport.get(URL), transport.get(URL).cache(key("a"))] {
        assert_eq!(request.send().await.unwrap_err().code, Code::ProviderHttpError);
    }
    let own = transport.get(URL).header("if-none-match", "\"1\"").send().await.unwrap();
    assert_eq!(own.status(), 304);
}
