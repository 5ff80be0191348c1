//! Tokens, methods, and what answers tell.

use std::os::unix::fs::PermissionsExt as _;

use loom_domain::Code;
use serde_json::Value;

use super::super::house::bearer;
use super::{ROUTES, Watch, tells_nothing_private};

/// CAP-144, ATK-S9: without a token only liveness answers; a token in a URL is refused and told nowhere.
#[tokio::test]
async fn cap_144_a_token_is_needed_and_travels_in_its_header() {
    let watch = Watch::new().await;
    for path in ROUTES {
        let reply = watch.bare(&format!("GET {path}"), &[]).await;
        let wanted = match path {
            "/healthz" | "/readyz" => 200,
            "/no/such/route" => 404,
            _ => 401,
        };
        assert_eq!(reply.status, wanted, "{path}");
        let asked = watch.viewer(&format!("GET {path}?token={}", watch.token), &[]).await;
        assert_eq!(asked.code(), Some(Code::TokenInUrl), "{path}");
        assert!(!asked.body.contains(&watch.token), "{path}");
    }
    let file = watch.home.path().join("status-token");
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let ready: Value = serde_json::from_str(&watch.bare("GET /readyz", &[]).await.body).unwrap();
    assert_eq!(ready, serde_json::json!({"ok": true}));
}

/// CAP-144, ATK-S8: eleven wrong tries from loopback and the peer has to wait, also with the right token.
#[tokio::test]
async fn cap_144_guesses_are_throttled_on_loopback_too() {
    let watch = Watch::new().await;
    let wrong = bearer(&format!("{}x", watch.token.get(..watch.token.len() - 1).unwrap()));
    for _ in 0..10 {
        assert_eq!(watch.bare("GET /status.json", &[&wrong]).await.status, 401);
    }
    for token in [&wrong, &bearer(&watch.token)] {
        let reply = watch.bare("GET /status.json", &[token]).await;
        assert_eq!((reply.status, reply.code()), (429, Some(Code::RateLimited)));
        assert!(reply.header("retry-after").is_some());
    }
    assert_eq!(watch.bare("GET /healthz", &[]).await.status, 200);
    assert_eq!(watch.over_socket("GET /status.json", "localhost").await.status, 200);
}

/// CAP-146, ATK-S4, ATK-S6: there is no route that changes anything, and every refusal is a problem.
#[tokio::test]
async fn cap_146_wrong_methods_and_routes_are_problems() {
    let watch = Watch::new().await;
    for path in &ROUTES[..ROUTES.len() - 1] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json"] {
                let kind = format!("content-type: {kind}");
                let reply = watch.viewer(&format!("{method} {path}"), &[&kind]).await;
                assert_eq!(
                    (reply.status, reply.code()),
                    (405, Some(Code::MethodNotAllowed)),
                    "{method} {path}"
                );
                assert_eq!(reply.header("allow"), Some("get,head"), "{path}");
                tells_nothing_private(&reply, watch.home.path());
            }
        }
        let head = watch.viewer(&format!("HEAD {path}"), &[]).await;
        assert!(*path == "/events" || head.status == 200 && head.body.is_empty(), "{path} {}", head.status);
    }
    for path in ["/v1/agents", "/v1/connections", "/v1/hub/stop", "/v1/send", "/mcp", "/x/../etc/passwd"] {
        let reply = watch.viewer(&format!("POST {path}"), &["content-type: application/json"]).await;
        assert_eq!((reply.status, reply.code()), (404, Some(Code::NotFound)), "{path}");
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        tells_nothing_private(&reply, watch.home.path());
    }
    for path in [
        "/v1/capabilities/nobody",
        "/v1/payloads/sha256:0123456789abcdef",
        "/v1/payloads/..%2f..%2fstatus-token",
        "/v1/requests?limit=0",
        "/v1/requests?cursor=x",
        "/v1/capabilities?unknown=1",
        "/events?topics=bodies",
    ] {
        let reply = watch.viewer(&format!("GET {path}"), &[]).await;
        assert!((400..500).contains(&reply.status) && reply.code().is_some(), "{path}: {}", reply.body);
        tells_nothing_private(&reply, watch.home.path());
    }
}

/// CAP-146: a reader that has the document is told so, and again once it changed.
#[tokio::test]
async fn cap_146_a_known_document_is_not_sent_again() {
    let watch = Watch::new().await;
    let first = watch.viewer("GET /status.json", &[]).await;
    let tag = first.header("etag").unwrap().replace("w/", "W/");
    assert!(tag.starts_with("W/\""), "{tag}");
    let same = watch.viewer("GET /status.json", &[&format!("if-none-match: \"other\", {tag}")]).await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    assert_eq!(first.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(watch.viewer("GET /status.json", &["if-none-match: W/\"x\""]).await.status, 200);
}
