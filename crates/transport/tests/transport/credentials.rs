//! Credentials go to their hosts and nowhere else.

use std::sync::Arc;

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{CredentialBinding, MockBackend, Place, SecretText};

use crate::support::{Peer, builder, mocked, ok_json};

const SECRET: &str = "xoxb-secret-value";

fn bound(host: &str) -> CredentialBinding {
    CredentialBinding::bearer(SecretText::new(SECRET), [host])
}

#[tokio::test]
async fn cap_051_a_token_is_sent_to_its_exact_host_only() {
    let urls = [
        ("https://api.github.com/", true),
        ("https://API.github.com/", true),
        ("https://api.github.com.evil.example/", false),
        ("https://evil-api.github.com/", false),
        ("https://github.com/", false),
    ];
    for (url, sent) in urls {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET"));
        transport.get(url).credential(bound("api.github.com:443")).send().await.unwrap();
        assert_eq!(mock.seen()[0].wire_headers.contains_key("authorization"), sent, "{url}");
    }
    let peer = Peer::start([ok_json("1")]).await;
    let other_port = format!("127.0.0.1:{}", peer.address.port() ^ 1);
    peer.transport().get(&peer.url("/")).credential(bound(&other_port)).send().await.unwrap();
    peer.transport().get(&peer.url("/")).credential(bound(&peer.address.to_string())).send().await.unwrap();
    let with: Vec<bool> = peer.requests().iter().map(|r| r.contains(SECRET)).collect();
    assert_eq!(with, [false, true]);
}

#[tokio::test]
async fn cap_050_a_changed_origin_drops_credential_and_ids_for_good() {
    let mock = Arc::new(MockBackend::new());
    let transport =
        builder().backend(Arc::clone(&mock) as _).trace_host("api.example").trace_host("b.example");
    let transport = transport.build().unwrap();
    let hops =
        [("https://api.example/a", "https://b.example/b"), ("https://b.example/b", "https://api.example/c")];
    for (from, to) in hops {
        let path = from.get(from.len() - 2..).unwrap();
        mock.expect(Expectation::new("GET").path(path).answer(Answer::redirect(302, to)));
    }
    mock.expect(Expectation::new("GET").path("/c"));
    let credential =
        CredentialBinding::bearer(SecretText::new("canary-value"), ["api.example:443", "b.example:443"]);
    let request =
        transport.get("https://api.example/a").redirects(5).credential(credential).header("x-loom-run", "r");
    request.send().await.unwrap();
    let own = |headers: &http::HeaderMap| {
        headers.keys().filter(|n| n.as_str().starts_with("x-loom-") || *n == "authorization").count()
    };
    let counts: Vec<usize> = mock.seen().iter().map(|seen| own(&seen.wire_headers)).collect();
    assert_eq!(counts, [3, 0, 0]);
    assert!(mock.seen().iter().all(|seen| seen.wire_headers.contains_key("traceparent")));
}

#[tokio::test]
async fn cap_050_a_query_credential_that_is_echoed_in_a_redirect_stands_nowhere() {
    let (transport, mock, _) = mocked();
    let echo = format!("https://api.example/b?key={SECRET}&x=1");
    mock.expect(Expectation::new("GET").path("/a").answer(Answer::redirect(302, &echo)));
    mock.expect(Expectation::new("GET").path("/b"));
    let place = Place::Query("key".into());
    let credential = CredentialBinding { place, ..bound("api.example:443") };
    let response =
        transport.get("https://api.example/a").redirects(1).credential(credential).send().await.unwrap();
    assert_eq!(response.meta().final_url, "https://api.example/b?x=1");
    assert_eq!(mock.seen()[1].url.matches("key=").count(), 1);
}

#[tokio::test]
async fn cap_050_a_redirect_to_another_host_drops_the_credential() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").path("/a").answer(Answer::redirect(302, "https://other.example/b")));
    mock.expect(Expectation::new("GET").path("/b"));
    let request = transport.get("https://api.example/a").redirects(1).credential(bound("api.example:443"));
    request.send().await.unwrap();
    let seen: Vec<bool> = mock.seen().iter().map(|s| s.wire_headers.contains_key("authorization")).collect();
    assert_eq!(seen, [true, false]);
}

#[tokio::test]
async fn cap_019_a_literal_secret_header_is_refused() {
    let (transport, mock, _) = mocked();
    for name in ["Authorization", "cookie", "Proxy-Authorization", "X-API-Key"] {
        let error = transport.get("https://api.example/").header(name, SECRET).send().await.unwrap_err();
        assert_eq!(error.code, Code::SecretInInput);
        assert!(!format!("{error:?}").contains(SECRET));
    }
    assert!(mock.seen().is_empty());
}

#[tokio::test]
async fn places_and_short_secrets() {
    let (transport, mock, log) = mocked();
    mock.expect(Expectation::new("GET").times(3));
    for place in [Place::Basic, Place::Header("x-token".to_owned()), Place::Query("key".to_owned())] {
        let credential = CredentialBinding { place, ..bound("api.example:443") };
        let response = transport.get("https://api.example/?a=1").credential(credential).send().await.unwrap();
        assert!(!response.meta().final_url.contains(SECRET));
    }
    let seen = mock.seen();
    assert_eq!(seen[0].wire_headers["authorization"], "Basic eG94Yi1zZWNyZXQtdmFsdWU=");
    assert_eq!(seen[1].wire_headers["x-token"], SECRET);
    assert!(seen[2].url.ends_with("?a=1&key=xoxb-secret-value"));
    assert!(!serde_json::to_string(&log.entries()).unwrap().contains(SECRET));

    let short = CredentialBinding::bearer(SecretText::new("short"), ["api.example:443"]);
    let error = transport.get("https://api.example/").credential(short).send().await.unwrap_err();
    assert_eq!(error.code, Code::CredentialUnavailable);
}
