//! The short calls.

use std::collections::BTreeMap;
use std::time::Duration;

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{
    CredentialBinding, Headers, LoomError, LoopXError, Options, SecretText, Transport, TransportBuilder,
    blocking, http_get, http_post, set_default_transport,
};
use serde_json::{Value, json};

use crate::support::{Peer, mocked, ok_json};

fn full() -> Options {
    Options {
        timeout: Some(Duration::from_secs(10)),
        headers: Headers::from([("x-one", "1")]),
        query: vec![("q".into(), "a b".into())],
        credential: Some(CredentialBinding::bearer(SecretText::new("canary-value"), ["api.example:443"])),
        idempotency_key: Some("key-1".into()),
        max_body_bytes: Some(2_048),
        ..Options::default()
    }
}

#[tokio::test]
async fn cap_038_a_post_sends_json_with_type_and_length_and_gives_json() {
    let peer = Peer::start([ok_json("{\"ok\":true}")]).await;
    let options = Options { timeout: Some(Duration::from_secs(10)), ..Options::default() };
    let response = peer.transport().http_post(&peer.url("/a"), &json!({"n": 1}), options).await.unwrap();
    assert_eq!(response.json::<Value>().unwrap(), json!({"ok": true}));
    let request = peer.requests().remove(0).to_ascii_lowercase();
    for part in [
        "post /a http/1.1\r\n",
        "content-type: application/json\r\n",
        "content-length: 7\r\n",
        "\r\n\r\n{\"n\":1}",
    ] {
        assert!(request.contains(part), "{part} in {request}");
    }
}

#[tokio::test]
async fn every_option_reaches_the_request() {
    let (transport, mock, _) = mocked();
    mock.expect(
        Expectation::new("POST")
            .query("q", "a b")
            .header("x-one", "1")
            .header("idempotency-key", "key-1")
            .header("authorization", "Bearer canary-value")
            .answer(Answer::too_large(2_049)),
    );
    let error = transport.http_post("https://api.example/", &1, full()).await.unwrap_err();
    assert_eq!(error.code, Code::ProviderResponseTooLarge);
    mock.verify().unwrap();
    let shown = format!("{:?}", full());
    assert!(!shown.contains("canary") && !shown.contains("a b"), "{shown}");
}

#[tokio::test]
async fn a_get_follows_five_redirects_and_a_post_none() {
    for (hops, passes) in [(5, true), (6, false)] {
        let (transport, mock, _) = mocked();
        let hop = Answer::redirect(302, "https://api.example/next");
        let answers = std::iter::repeat_n(hop, hops).chain([Answer::status(200)]);
        mock.expect(answers.fold(Expectation::new("GET"), Expectation::answer));
        let answer = transport.http_get("https://api.example/", Options::default()).await;
        assert_eq!(answer.is_ok(), passes, "{hops}");
    }
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("POST").answer(Answer::redirect(307, "https://api.example/next")));
    let error = transport.http_post("https://api.example/", &1, Options::default()).await.unwrap_err();
    assert_eq!((error.code(), mock.seen().len()), ("provider_redirect_refused", 1));
}

#[tokio::test]
async fn cap_042_limits_that_are_none_are_usage_and_open_nothing() {
    let (transport, mock, _) = mocked();
    for seconds in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e9] {
        let error = transport.get("https://api.example/").timeout_seconds(seconds).send().await.unwrap_err();
        assert_eq!(error.code, Code::Usage, "{seconds}");
    }
    for wrong in [Duration::ZERO, Duration::from_secs(601)] {
        let options = [
            Options { timeout: Some(wrong), ..Options::default() },
            Options { connect_timeout: Some(wrong), ..Options::default() },
            Options { read_timeout: Some(wrong), ..Options::default() },
            Options { max_body_bytes: Some(1), ..Options::default() },
        ];
        for options in options {
            let error = transport.http_get("https://api.example/", options).await.unwrap_err();
            assert_eq!(error.code, Code::Usage);
        }
    }
    assert!(mock.seen().is_empty());
}

/// The one test that touches the transport of the process.
#[tokio::test]
async fn the_short_calls_share_the_transport_of_the_process_also_when_blocking() {
    let peer = Peer::start([ok_json("[1]")]).await;
    let url = peer.url("/");
    set_default_transport(peer.transport()).unwrap();
    let again: Result<(), Transport> = set_default_transport(peer.transport());
    assert!(again.is_err());
    let answer: Result<_, LoomError> = http_get(&url, Options::default()).await;
    assert_eq!(answer.unwrap().json::<Value>().unwrap(), json!([1]));
    http_post(&url, "x", Options::default()).await.unwrap();
    let waits = tokio::task::spawn_blocking(move || {
        let answer: Result<_, LoopXError> = blocking::http_get(&url, Options::default());
        (answer.map(|a| a.status()), blocking::http_post(&url, &[1], Options::default()).map(|a| a.status()))
    });
    let (get, post) = waits.await.unwrap();
    assert_eq!((get.unwrap(), post.unwrap()), (200, 200));
    assert_eq!(peer.requests().len(), 4);
}

#[test]
fn the_environment_describes_a_transport() {
    let variables = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let origins = variables(&[("LOOM_LOCAL_ORIGINS", "http://127.0.0.1:9, https://h.example:8443")]);
    assert!(TransportBuilder::from_environment(&origins).unwrap().build().is_ok());
    let wrong = variables(&[("LOOM_LOCAL_ORIGINS", "ftp://h")]);
    assert_eq!(
        TransportBuilder::from_environment(&wrong).unwrap().build().unwrap_err().code,
        Code::InvalidUrl
    );
    let wrong = variables(&[("https_proxy", "ftp://h")]);
    assert!(TransportBuilder::from_environment(&wrong).is_err());
}
