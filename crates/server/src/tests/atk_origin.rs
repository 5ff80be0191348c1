//! Web pages and rebound names reach nothing.

use loom_domain::{Code, Principal};

use super::house::{bearer, house, house_with, request};
use crate::Scopes;

const ROUTES: [&str; 6] = [
    "GET /v1/healthz",
    "GET /v1/metrics",
    "GET /v1/events",
    "POST /v1/test/change",
    "GET /v1/test/any",
    "GET /no/such/route",
];

/// MSG-226: no token, foreign Host, foreign or `null` Origin, form body: refused, without a CORS header.
#[tokio::test]
async fn msg_226_foreign_calls_are_refused_without_cors() {
    let house = house().await;
    for line in ROUTES {
        let host = house.raw(request(line, "evil.example", &[], "")).await;
        assert_eq!((host.status, host.code()), (403, Some(Code::HostNotAllowed)), "{line}");
        for origin in ["http://evil.example", "null", ""] {
            let reply = house.over_tcp(line, &[&format!("origin: {origin}")], "").await;
            assert_eq!((reply.status, reply.code()), (403, Some(Code::OriginNotAllowed)), "{line} {origin}");
            assert!(!reply.head.contains("access-control-"), "{line}");
        }
        assert!(!host.head.contains("access-control-"), "{line}");
    }
    for line in ["GET /v1/metrics", "GET /v1/events", "POST /v1/test/change", "GET /v1/test/any"] {
        let reply = house.over_tcp(line, &[], "").await;
        assert_eq!((reply.status, reply.code()), (401, Some(Code::Unauthenticated)), "{line}");
    }
    let form = "content-type: application/x-www-form-urlencoded";
    assert_eq!(house.as_owner("POST /v1/test/change", &[form], "a=1").await.status, 415);
    assert_eq!(house.changes().await, 0);
}

/// ATK-01, ID-8: only an exactly listed origin gets a CORS header, also on errors and preflights.
#[tokio::test]
async fn atk_01_only_listed_origins_may_read() {
    let house = house_with(|config| config.cors_origins = vec!["https://desk.example".into()]).await;
    let token = bearer(&house.hub.token(1, Principal::Owner, Scopes::All));
    let listed = house.over_tcp("GET /v1/test/any", &["origin: https://desk.example", &token], "").await;
    assert_eq!((listed.status, listed.body.as_str()), (200, "owner"));
    assert_eq!(listed.header("access-control-allow-origin"), Some("https://desk.example"));
    assert_eq!(listed.header("vary"), Some("origin"));
    let refused = house.over_tcp("GET /v1/test/any", &["origin: https://desk.example"], "").await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("access-control-allow-origin").is_some());
    let asks = ["origin: https://desk.example", "access-control-request-method: POST"];
    assert_eq!(house.over_tcp("OPTIONS /v1/test/change", &asks, "").await.status, 204);
    let asks = ["origin: https://evil.example", "access-control-request-method: POST"];
    let foreign = house.over_tcp("OPTIONS /v1/test/change", &asks, "").await;
    assert_eq!(foreign.status, 403);
    let page = house.over_tcp("GET /v1/test/any", &["origin: https://evil.example", &token], "").await;
    assert!(!page.head.contains("access-control-") && !page.body.contains("owner"));
    let plain = house.over_tcp("GET /v1/test/any", &[&token], "").await;
    assert!(plain.status == 200 && !plain.head.contains("access-control-"));
}

/// ATK-02: a page on another site opens no stream and no WebSocket; a URL never authenticates.
#[tokio::test]
async fn atk_02_streams_of_foreign_pages() {
    let house = house().await;
    let token = house.hub.token(1, Principal::Owner, Scopes::All);
    let upgrade =
        ["upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="];
    for path in ["/v1/events", "/events"] {
        let line = format!("GET {path}");
        assert_eq!(house.over_tcp(&line, &["origin: https://evil.example"], "").await.status, 403);
        assert_eq!(house.over_tcp(&line, &[], "").await.status, 401);
        assert_eq!(house.over_tcp(&line, &upgrade, "").await.status, 401);
        let preset = house.over_tcp(&format!("GET {path}?token={token}"), &[], "").await;
        assert_eq!(preset.code(), Some(Code::TokenInUrl));
        let preset =
            house.over_tcp(&format!("GET {path}?hub=http://evil.example"), &[&bearer(&token)], "").await;
        assert_eq!(preset.code(), Some(Code::InvalidArgument));
    }
}

/// ATK-03: every form of a foreign Host is refused before routing, for each kind of route.
#[tokio::test]
async fn atk_03_host_variants_on_every_route() {
    let house = house().await;
    let port = house.address.port();
    let token = bearer(&house.hub.token(1, Principal::Owner, Scopes::All));
    let hosts = [
        format!("evil.example:{port}"),
        format!("[::1]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("localhost.:{port}"),
        format!("127.0.0.1:{}", port ^ 1),
        "127.0.0.1".to_owned(),
        format!("user@127.0.0.1:{port}"),
        format!("127.0.0.1:{port}\r\nhost: 127.0.0.1:{port}"),
        format!("127.0.0.1:{port}\r\nhost: evil.example"),
        format!("127.0.0.1:{port}, evil.example"),
        "localhost".to_owned(),
        String::new(),
    ];
    for line in ROUTES {
        for host in &hosts {
            let reply = house.raw(request(line, host, &[&token], "")).await;
            assert_eq!((reply.status, reply.code()), (403, Some(Code::HostNotAllowed)), "{line} {host}");
        }
        let bare = format!("{line} HTTP/1.1\r\nconnection: close\r\n\r\n");
        assert!(matches!(house.raw(bare).await.status, 400 | 403), "{line}");
        let absolute = line.replace(" /", " http://evil.example/");
        assert_eq!(house.over_tcp(&absolute, &[&token], "").await.status, 403, "{line}");
    }
    let good = house.raw(request("GET /v1/healthz", &format!("LocalHost:{port}"), &[], "")).await;
    assert_eq!((good.status, good.body.as_str()), (200, r#"{"ok":true}"#));
}

/// ATK-04: a cross-site form or text POST changes nothing, and reading never does.
#[tokio::test]
async fn atk_04_forms_change_nothing() {
    let house = house().await;
    let types = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
        "application/jsonp",
        "application/json, text/plain",
    ];
    for kind in types {
        let reply = house.as_owner("POST /v1/test/change", &[&format!("content-type: {kind}")], "{}").await;
        assert_eq!((reply.status, reply.code()), (415, Some(Code::UnsupportedMediaType)), "{kind}");
    }
    assert_eq!(house.as_owner("POST /v1/test/change", &[], "{}").await.status, 415);
    let two = ["content-type: application/json", "content-type: text/plain"];
    assert_eq!(house.as_owner("POST /v1/test/change", &two, "{}").await.status, 415);
    let get = house.as_owner("GET /v1/test/change", &[], "").await;
    assert_eq!((get.status, get.code()), (405, Some(Code::MethodNotAllowed)));
    assert_eq!(get.header("allow"), Some("post"));
    assert_eq!(house.as_owner("HEAD /v1/test/change", &[], "").await.status, 405);
    assert_eq!(house.changes().await, 0);
    let json = "content-type: application/json; charset=UTF-8";
    assert_eq!(house.as_owner("POST /v1/test/change", &[json], "{}").await.status, 200);
    assert_eq!(house.changes().await, 1);
}
