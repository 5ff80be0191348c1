//! What every answer carries, and how errors look.

use loom_domain::Code;
use serde_json::Value;

use super::house::house;

const JSON: &str = "content-type: application/json";

/// ID-9: the headers stand on answers of every kind.
#[tokio::test]
async fn id_9_headers_on_every_answer() {
    let house = house().await;
    let answers = [
        house.as_owner("GET /v1/healthz", &[], "").await,
        house.as_owner("GET /v1/metrics", &[], "").await,
        house.over_tcp("GET /v1/metrics", &[], "").await,
        house.over_tcp("GET /nothing", &[], "").await,
        house.over_tcp("GET /nothing", &["origin: null"], "").await,
        house.as_owner("POST /v1/test/change", &[JSON], "{").await,
        house.as_owner("GET /v1/test/panic", &[], "").await,
    ];
    for reply in answers {
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{}", reply.head);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
        let csp = reply.header("content-security-policy").unwrap();
        assert!(
            csp.starts_with("default-src 'none'; script-src 'self';")
                && csp.ends_with("frame-ancestors 'none'")
        );
        assert!(!reply.head.contains("access-control-") && !reply.head.contains("\nserver:"));
    }
}

/// ID-8: an error is problem+json with the one error object.
#[tokio::test]
async fn id_8_errors_are_problem_documents() {
    let house = house().await;
    let reply = house.over_tcp("GET /nothing", &[], "").await;
    assert_eq!(reply.header("content-type"), Some("application/problem+json"));
    let problem: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(problem["type"], "urn:loom:error:not_found");
    assert_eq!((problem["status"].as_u64(), problem["code"].as_str()), (Some(404), Some("not_found")));
    assert_eq!(problem["title"], Code::NotFound.about());
    assert!(problem["message"].is_string() && problem["hint"].is_string() && problem["retryable"] == false);
    assert_eq!(reply.header("x-request-id"), problem["request_id"].as_str());
}

/// ID-8: a defect shows its request id and nothing of its cause, also when a handler panics.
#[tokio::test]
async fn id_8_defects_are_bare() {
    let house = house().await;
    for path in ["/v1/test/defect", "/v1/test/panic"] {
        let reply = house.as_owner(&format!("GET {path}"), &[], "").await;
        assert_eq!((reply.status, reply.code()), (500, Some(Code::Internal)));
        assert!(!reply.body.contains("private detail") && !reply.body.contains("index"));
        assert!(reply.body.contains("req_"));
    }
    assert_eq!(house.as_owner("GET /v1/healthz", &[], "").await.status, 200);
}

/// D.3: the exposition is `OpenMetrics` text with closed labels.
#[tokio::test]
async fn metrics_are_open_metrics() {
    let house = house().await;
    house.over_tcp("GET /secret/path", &[], "").await;
    house.over_tcp("GET /healthz", &[], "").await;
    let reply = house.as_owner("GET /metrics", &[], "").await;
    assert!(reply.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    for line in [
        r#"loom_http_requests_total{route="none",code="404"} 1"#,
        r#"loom_http_requests_total{route="/healthz",code="200"} 1"#,
        "loom_sse_clients 0",
        "loom_resident_bytes ",
        "loom_open_fds ",
        r#"loom_build_info{version="0.0.0"} 1"#,
        "# EOF",
    ] {
        assert!(reply.body.contains(line), "{line}\n{}", reply.body);
    }
    assert!(reply.body.contains("loom_http_request_seconds_bucket") && !reply.body.contains("/secret"));
}

/// OP-1: liveness answers anybody, at both places, and says nothing.
#[tokio::test]
async fn op_1_healthz_is_public_and_tells_nothing_else() {
    let house = house().await;
    for path in ["/healthz", "/v1/healthz"] {
        let reply = house.over_tcp(&format!("GET {path}"), &[], "").await;
        assert_eq!((reply.status, reply.body.as_str()), (200, r#"{"ok":true}"#));
    }
}

/// OP-1: readiness is for readers, and 503 while the hub does not do its work.
#[tokio::test]
async fn op_1_readyz_tells_readers_the_state() {
    let house = house().await;
    assert_eq!(house.over_tcp("GET /v1/readyz", &[], "").await.status, 401);
    assert_eq!(house.over_tcp("GET /readyz", &[], "").await.body, r#"{"ok":true}"#);
    let reply = house.as_owner("GET /v1/readyz", &[], "").await;
    assert_eq!((reply.status, reply.body.as_str()), (200, r#"{"store":true}"#));
    *house.hub.ready.lock().unwrap() = false;
    assert_eq!(house.as_owner("GET /v1/readyz", &[], "").await.status, 503);
    let public = house.over_tcp("GET /readyz", &[], "").await;
    assert_eq!((public.status, public.body.as_str()), (503, r#"{"ok":false}"#));
}

/// MSG-024: a known secret in a document is refused and not echoed, and nothing changes; content is judged later.
#[tokio::test]
async fn msg_024_a_known_secret_in_a_document_is_refused() {
    let house = house().await;
    let document = r#"{"guidance": "use the-known-secret"}"#;
    let reply = house.as_owner("POST /v1/test/change", &[JSON], document).await;
    assert_eq!((reply.status, reply.code()), (422, Some(Code::SecretInInput)));
    assert!(!reply.body.contains("the-known") && reply.body.contains("\"hint\":\""), "{}", reply.body);
    assert_eq!(house.changes().await, 0);
    let content = house.as_owner("POST /v1/test/say", &[JSON], document).await;
    assert_eq!(content.status, 200, "{}", content.body);
}
