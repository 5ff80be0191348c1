//! Tokens, scopes, throttling.

use std::io;
use std::sync::{Arc, Mutex};

use loom_domain::{AgentId, Code, ConnectionId, Principal};

use super::house::{bearer, house, house_with};
use crate::{Scope, Scopes, SocketAuth};

/// ATK-05: loopback is no identity, and forged forwarded headers make none.
#[tokio::test]
async fn atk_05_forwarded_headers_are_no_identity() {
    let house = house().await;
    let forged = [
        "x-forwarded-for: 127.0.0.1",
        "x-forwarded-host: localhost",
        "forwarded: for=127.0.0.1",
        "x-real-ip: 127.0.0.1",
    ];
    assert_eq!(house.over_tcp("GET /v1/test/any", &forged, "").await.status, 401);
    assert_eq!(house.over_tcp("GET /v1/test/any", &[], "").await.status, 401);
}

/// ATK-05, ATK-08: an undeclared proxy cannot spread its guesses over invented peers.
#[tokio::test]
async fn atk_05_invented_peers_share_the_throttle() {
    let house = house().await;
    for n in 0..10 {
        let headers = [format!("x-forwarded-for: 10.0.0.{n}"), bearer("guess")];
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        assert_eq!(house.over_tcp("GET /v1/test/any", &headers, "").await.status, 401);
    }
    let last = house.over_tcp("GET /v1/test/any", &["x-forwarded-for: 10.9.9.9", &bearer("guess")], "").await;
    assert_eq!(last.status, 429);
}

/// ATK-07, ID-2, ID-4: rights come from the stored record; what a request says of itself counts nothing.
#[tokio::test]
async fn atk_07_rights_come_from_the_record() {
    let house = house().await;
    let agent = AgentId::new(1, 1);
    let narrow = house.hub.token(1, Principal::Agent(agent.clone()), Scopes::Only(vec![Scope::InboxRead]));
    let whole = house.hub.token(2, Principal::Agent(agent.clone()), Scopes::All);
    let connector = house.hub.token(3, Principal::Connector(ConnectionId::new(1, 1)), Scopes::All);
    let viewer = house.hub.token(4, Principal::Viewer, Scopes::All);
    let json = "content-type: application/json";
    let claims = ["x-loom-role: owner", "x-loom-scopes: inbox:act"];
    let body = r#"{"role":"owner","scopes":["inbox:act"]}"#;

    let read = house.over_tcp("GET /v1/test/any", &[&bearer(&narrow)], "").await;
    assert_eq!((read.status, read.body), (200, format!("agent:{agent}")));
    let headers = [claims[0], claims[1], json, &bearer(&narrow)];
    let act = house.over_tcp("POST /v1/test/act?scope=inbox:act", &headers, body).await;
    assert_eq!((act.status, act.code()), (403, Some(Code::Forbidden)));
    let headers = [claims[0], json, &bearer(&whole)];
    assert_eq!(house.over_tcp("POST /v1/test/act", &headers, body).await.status, 200);
    assert_eq!(house.over_tcp("POST /v1/test/change", &headers, body).await.code(), Some(Code::Forbidden));
    for token in [&connector, &viewer] {
        let headers = [claims[0], json, &bearer(token)];
        assert_eq!(house.over_tcp("POST /v1/test/act", &headers, body).await.status, 403);
    }
    assert_eq!(house.over_tcp("GET /v1/test/any", &[&bearer(&connector)], "").await.status, 403);
    assert_eq!(house.changes().await, 0);
}

/// ID-2: a token on the socket counts before the socket itself, so a narrow one stays narrow.
#[tokio::test]
async fn id_2_a_narrow_token_on_the_socket_stays_narrow() {
    let house = house().await;
    let narrow = house.hub.token(1, Principal::Viewer, Scopes::Only(vec![Scope::InboxRead]));
    let reply = house.as_owner("GET /v1/test/count", &[&bearer(&narrow)], "").await;
    assert_eq!(reply.code(), Some(Code::Forbidden));
    house.hub.revoke_all();
    assert_eq!(house.as_owner("GET /v1/test/any", &[&bearer(&narrow)], "").await.status, 401);
}

/// ID-1: malformed, unknown, doubled and foreign credentials are refused alike.
#[tokio::test]
async fn id_1_only_whole_known_tokens_pass() {
    let house = house_with(|config| config.requests.auth_failures_max = 1_000).await;
    let good = house.hub.token(1, Principal::Owner, Scopes::All);
    let mut other = good.clone();
    let last = if other.pop() == Some('A') { 'B' } else { 'A' };
    other.push(last);
    for bad in [
        other,
        good[..good.len() - 1].to_owned(),
        format!("{good}A"),
        good.replace("loom_tok_", "lct_"),
        "x".into(),
    ] {
        let reply = house.over_tcp("GET /v1/test/any", &[&bearer(&bad)], "").await;
        assert_eq!((reply.status, reply.code()), (401, Some(Code::Unauthenticated)), "{bad}");
        assert_eq!(reply.header("www-authenticate"), Some("bearer"));
    }
    let doubled = house.over_tcp("GET /v1/test/any", &[&bearer(&good), &bearer(&good)], "").await;
    assert_eq!(doubled.status, 401);
    let basic = house.over_tcp("GET /v1/test/any", &["authorization: Basic eDp5"], "").await;
    assert_eq!(basic.status, 401);
    assert_eq!(house.over_tcp("GET /v1/test/any", &[&bearer(&good)], "").await.status, 200);
}

/// ATK-08: the eleventh guess waits, and so does the right token; the owner on the socket does not.
#[tokio::test]
async fn atk_08_guesses_are_throttled_on_loopback() {
    let house = house().await;
    let good = house.hub.token(1, Principal::Owner, Scopes::All);
    for _ in 0..10 {
        assert_eq!(house.over_tcp("GET /v1/test/any", &[&bearer("guess")], "").await.status, 401);
    }
    for token in ["guess", &good] {
        let reply = house.over_tcp("GET /v1/test/any", &[&bearer(token)], "").await;
        assert_eq!((reply.status, reply.code()), (429, Some(Code::RateLimited)));
        let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
        assert!((50..=60).contains(&wait), "{wait}");
    }
    assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.status, 200);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// ATK-09, ID-5: a token in a URL of any route is refused, and stands in no log, answer or header.
#[tokio::test]
async fn atk_09_tokens_in_urls() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let house = house().await;
    let token = house.hub.token(1, Principal::Owner, Scopes::All);
    tracing::info!("the log works");
    for path in ["/v1/healthz", "/v1/events", "/v1/test/any", "/no/such/route"] {
        for url in
            [format!("{path}?x={token}"), format!("{path}?access_token=abc"), format!("{path}/{token}")]
        {
            let reply = house.over_tcp(&format!("GET {url}"), &[], "").await;
            assert_eq!((reply.status, reply.code()), (400, Some(Code::TokenInUrl)), "{url}");
            assert!(!reply.body.contains(&token) && !reply.head.contains(&token));
            assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        }
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("the log works") && !log.contains(&token));
}

/// C.2: `listen.socket_auth = "token"` demands a token from everybody.
#[tokio::test]
async fn socket_auth_token_demands_one() {
    let house = house_with(|config| config.socket_auth = SocketAuth::Token).await;
    assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.status, 401);
    let token = house.hub.token(1, Principal::Owner, Scopes::All);
    assert_eq!(house.as_owner("GET /v1/test/any", &[&bearer(&token)], "").await.status, 200);
}
