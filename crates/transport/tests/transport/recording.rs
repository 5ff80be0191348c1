//! Cassettes.

use std::sync::Arc;

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{CredentialBinding, MockBackend, RecordedBackend, SecretText, Transport};
use serde_json::{Value, json};

use crate::support::builder;

fn over(backend: RecordedBackend) -> (Transport, Arc<RecordedBackend>) {
    let backend = Arc::new(backend);
    (builder().backend(backend.clone()).build().unwrap(), backend)
}

async fn get(transport: &Transport, path: &str) -> loom_domain::Result<Value> {
    let credential = CredentialBinding::bearer(SecretText::new("ghp_secretsecret"), ["api.example:443"]);
    transport
        .get(&format!("https://api.example{path}"))
        .credential(credential)
        .no_retry()
        .send()
        .await?
        .json()
}

#[tokio::test]
async fn cap_058_a_recording_replays_offline_and_holds_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.ndjson");
    let mock = Arc::new(MockBackend::new());
    mock.expect(
        Expectation::new("GET").path("/a").answer(Answer::json(&json!({"n":1,"echo":"ghp_secretsecret"}))),
    );
    mock.expect(Expectation::new("GET").path("/b").answer(Answer::json(&json!({"n":2}))));
    let names = crate::support::Names::new([&["93.184.216.34"]]);
    let recording = Arc::new(RecordedBackend::record(&path, mock, str::to_owned).unwrap());
    let recorder = builder().resolver(names).backend(recording).build().unwrap();
    get(&recorder, "/a").await.unwrap();
    get(&recorder, "/b").await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("ghp_secretsecret") && text.contains("{{credential:token}}"));

    let (replay, _) = over(RecordedBackend::replay(&path).unwrap());
    assert_eq!(get(&replay, "/b").await.unwrap(), json!({"n":2}));
    assert_eq!(get(&replay, "/a").await.unwrap()["n"], 1);
    let error = get(&replay, "/a").await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderNetworkError, Some("replay")));

    let (strict, tape) = over(RecordedBackend::replay_strict(&path).unwrap());
    assert!(get(&strict, "/b").await.is_err(), "out of order");
    get(&strict, "/a").await.unwrap();
    assert_eq!(tape.left(), 1);
    assert_eq!(tape.hosts(), ["api.example"]);
}

#[test]
fn cap_058_a_device_is_no_recording() {
    let refused = RecordedBackend::replay(std::path::Path::new("/dev/zero")).err().unwrap();
    assert_eq!(refused.code, Code::InvalidInput);
}

#[tokio::test]
async fn an_unexpected_request_fails_with_a_diff() {
    let mock = Arc::new(MockBackend::new());
    mock.expect(Expectation::new("POST").path("/a").json(json!({"x":1})));
    let transport = builder().backend(mock.clone()).build().unwrap();
    transport.post("https://api.example/a").json(&json!({"x":2})).send().await.unwrap_err();
    let diff = mock.verify().unwrap_err();
    assert!(diff.contains("expected 1 times, seen 0") && diff.contains("json {\"x\":2}"), "{diff}");
    transport.post("https://api.example/a").json(&json!({"x":1,"y":3})).send().await.unwrap();
}
