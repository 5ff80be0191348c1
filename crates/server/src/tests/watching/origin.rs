//! Web pages, rebound names and reverse proxies.

use loom_domain::Code;

use super::super::house::{bearer, request};
use super::{ROUTES, Watch};
use crate::{Figures, HomeStore, ListenConfig, Live, Server, Watched, watching};

const DESK: &str = "https://desk.example";

/// CAP-142, ATK-S1, ATK-S2: a listed origin reads with exact CORS headers; any other, and `null`, gets 403 before
/// any work, on every route and method, on event streams and on `WebSocket`s.
#[tokio::test]
async fn cap_142_only_listed_origins_read() {
    let watch = Watch::with(|config| config.cors_origins = vec![DESK.into()]).await;
    let listed = watch.viewer("GET /status.json", &[&format!("origin: {DESK}")]).await;
    assert_eq!((listed.status, listed.header("access-control-allow-origin")), (200, Some(DESK)));
    assert!(listed.header("vary").is_some() && !listed.head.contains("allow-credentials"));
    let asks = [&format!("origin: {DESK}"), "access-control-request-method: GET"];
    let preflight = watch.bare("OPTIONS /status.json", &asks).await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-methods"), Some("get, head, post"));
    assert_eq!(
        preflight.header("access-control-allow-headers"),
        Some("authorization, content-type, idempotency-key")
    );
    assert_eq!(preflight.header("access-control-max-age"), Some("600"));
    let upgrade = "upgrade: websocket";
    for path in ROUTES {
        for method in ["GET", "HEAD", "POST", "OPTIONS", "DELETE"] {
            for origin in ["https://evil.example", "null", "https://desk.example.evil.example", ""] {
                let origin = format!("origin: {origin}");
                let reply = watch.viewer(&format!("{method} {path}"), &[&origin, upgrade]).await;
                assert_eq!(reply.status, 403, "{method} {path} {origin}");
                assert!(!reply.head.contains("access-control-"), "{method} {path}");
                assert!(method == "HEAD" || reply.code() == Some(Code::OriginNotAllowed), "{}", reply.body);
            }
        }
    }
    let metrics = watch.viewer("GET /metrics", &[]).await.body;
    assert!(!metrics.contains("route=\"/events\""), "a refused page reached a route: {metrics}");
}

/// CAP-143, ATK-S3: only the own names with the own port, each exactly as it is.
#[tokio::test]
async fn cap_143_foreign_hosts_reach_nothing() {
    let watch = Watch::with(|config| config.allowed_hosts = vec!["status.example".into()]).await;
    let port = watch.address.port();
    let bad = [
        format!("evil.example:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("localhost.:{port}"),
        format!("user@localhost:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        "localhost".to_owned(),
        "localhost:1".to_owned(),
        String::new(),
    ];
    let token = bearer(&watch.token);
    for path in ROUTES {
        for host in &bad {
            let reply = watch.raw(request(&format!("GET {path}"), host, &[&token], "")).await;
            assert_eq!((reply.status, reply.code()), (403, Some(Code::HostNotAllowed)), "{path} {host}");
        }
        let own = format!("localhost:{port}");
        let twice = watch.raw(request(&format!("GET {path}"), &own, &[&format!("host: {own}")], "")).await;
        assert_eq!(twice.code(), Some(Code::HostNotAllowed), "{path} repeated");
        let none = watch.raw(format!("GET {path} HTTP/1.1\r\nconnection: close\r\n\r\n")).await;
        assert!(matches!(none.status, 400 | 403), "{path} missing: {}", none.status);
        let split = watch.raw(request(&format!("GET http://evil.example{path}"), &own, &[&token], "")).await;
        assert_eq!(split.code(), Some(Code::HostNotAllowed), "{path} unequal");
    }
    for good in [format!("127.0.0.1:{port}"), format!("LOCALHOST:{port}"), "status.example".to_owned()] {
        assert_eq!(watch.raw(request("GET /status.json", &good, &[&token], "")).await.status, 200, "{good}");
    }
    assert_eq!(watch.over_socket("GET /status.json", "localhost").await.status, 200);
    assert_eq!(watch.over_socket("GET /status.json", "evil.example").await.status, 403);
}

/// CAP-143: the same on IPv6.
#[tokio::test]
async fn cap_143_ipv6_passes_with_its_port() {
    let watch = Watch::with(|config| config.address = "[::1]:0".parse().ok()).await;
    let (port, token) = (watch.address.port(), bearer(&watch.token));
    for good in [format!("[::1]:{port}"), format!("localhost:{port}")] {
        assert_eq!(watch.raw(request("GET /status.json", &good, &[&token], "")).await.status, 200, "{good}");
    }
    for bad in ["[::1]".to_owned(), format!("[0:0:0:0:0:0:0:1]:{port}"), format!("127.0.0.1:{port}")] {
        assert_eq!(watch.raw(request("GET /healthz", &bad, &[], "")).await.status, 403, "{bad}");
    }
}

/// ATK-S5, ATK-S7, ATK-S10: a peer address, forwarded headers and named scopes are nobody's word.
#[tokio::test]
async fn atk_s5_forwarded_headers_and_named_scopes_are_ignored() {
    let watch = Watch::new().await;
    let forged = [
        "x-forwarded-for: 127.0.0.1",
        "forwarded: for=127.0.0.1;host=localhost",
        "x-forwarded-user: owner",
        "x-loom-principal: owner",
        "x-loom-scopes: status:read",
        "x-peer-uid: 0",
    ];
    let reply = watch.bare("GET /status.json?scope=status:read", &forged).await;
    assert_eq!((reply.status, reply.code()), (401, Some(Code::Unauthenticated)));
    assert!(!reply.body.contains("schema_version"), "{}", reply.body);
}

/// ATK-S12: an address that others reach needs TLS or a declared proxy; the start is refused before a port is open.
#[tokio::test]
async fn atk_s12_open_bind_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let clock: crate::Clock = std::sync::Arc::new(|| super::NOW);
    let live = Live::Socket(home.path().join("no.sock"));
    let store = HomeStore::none();
    let figures = Figures::new(home.path().to_owned(), store.clone(), live, clock.clone());
    let watched = Watched { home: home.path().to_owned(), store, clock, random: [1; 32], figures };
    let (doors, _) = watching(watched).unwrap();
    let config = ListenConfig { address: "0.0.0.0:0".parse().ok(), ..ListenConfig::default() };
    let refused = Server::bind_watching(config, doors, tokio_util::sync::CancellationToken::new()).await;
    assert_eq!(refused.err().map(|error| error.code), Some(Code::InsecureBind));
}
