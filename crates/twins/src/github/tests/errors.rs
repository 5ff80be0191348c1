//! Planned failures and refusals.

use serde_json::json;

use super::{TOKEN, anonymous, builder, client, twin};
use crate::github::{Fault, FaultAction};

const PULLS: &str = "/repos/acme/tool/pulls";

#[tokio::test]
async fn every_refusal_has_its_status_and_its_mark() {
    let twin = twin().await;
    let cases = [
        (FaultAction::Unauthorized, 401, "Bad credentials"),
        (FaultAction::Sso, 403, "SAML"),
        (FaultAction::Forbidden, 403, "not accessible"),
        (FaultAction::NotFound, 404, "Not Found"),
        (FaultAction::Gone, 410, "deleted"),
        (FaultAction::Validation, 422, "Validation Failed"),
        (FaultAction::Legal, 451, "blocked"),
        (FaultAction::Server { status: 500 }, 500, "Server Error"),
        (FaultAction::Moved { location: "https://elsewhere.example/".into() }, 301, "Moved"),
    ];
    for (action, status, message) in cases {
        twin.fault(Fault::once("/repos/*/pulls", action));
        let refused = client(&twin).get(PULLS).await;
        assert_eq!(refused.status, status);
        assert!(refused.json()["message"].as_str().unwrap().contains(message), "{}", refused.text());
        assert_eq!(refused.headers.contains_key("x-github-sso"), message == "SAML");
    }
    assert_eq!(client(&twin).get(PULLS).await.status, 200);
}

#[tokio::test]
async fn requests_need_an_agent_a_known_token_and_a_known_version() {
    let twin = twin().await;
    assert_eq!(client(&twin).with("user-agent", "").get(PULLS).await.status, 403);
    assert_eq!(client(&twin).with("authorization", "Bearer ghp_other").get(PULLS).await.status, 401);
    assert_eq!(client(&twin).with("x-github-api-version", "2020-01-01").get(PULLS).await.status, 400);
    assert_eq!(client(&twin).with("authorization", &format!("token {TOKEN}")).get("/user").await.status, 200);
    assert_eq!(anonymous(&twin).get(PULLS).await.status, 200);
    let last = twin.requests().pop().unwrap();
    assert_eq!(
        (last.authorization.as_deref(), last.status, last.header("User-Agent")),
        (None, Some(200), Some("plain-client"))
    );
}

#[tokio::test]
async fn an_answer_can_be_bent_cut_or_never_come() {
    let twin = twin().await;
    twin.fault(Fault::once(PULLS, FaultAction::Put { pointer: "/0/number".into(), value: json!("x") }));
    assert_eq!(client(&twin).get(PULLS).await.json()[0]["number"], "x");
    twin.fault(Fault::once(PULLS, FaultAction::Remove { pointer: "/0".into(), field: "head".into() }));
    assert!(client(&twin).get(PULLS).await.json()[0].get("head").is_none());
    twin.fault(Fault::once(PULLS, FaultAction::Html));
    assert!(client(&twin).get(PULLS).await.header("content-type").starts_with("text/html"));
    for action in [FaultAction::Drop, FaultAction::Cut { bytes: 9 }] {
        twin.fault(Fault::once(PULLS, action));
        assert!(client(&twin).send("GET", PULLS, "").await.is_err());
    }
    assert_eq!(twin.requests().pop().unwrap().status, None);
    twin.fault(Fault::once("*", FaultAction::Hang));
    let asking = tokio::spawn({
        let client = client(&twin);
        async move { client.send("GET", PULLS, "").await }
    });
    twin.wait_for_requests(6).await;
    twin.shutdown().await;
    assert!(asking.await.unwrap().is_err());
}

#[tokio::test]
async fn the_echo_puts_the_token_into_bodies_keys_headers_and_error_texts() {
    let twin = builder().echo_token().start().await.unwrap();
    let list = client(&twin).get("/repos/acme/tool/pulls?per_page=1").await;
    assert_eq!(list.header("x-debug-authorization"), format!("Bearer {TOKEN}"));
    let one = &list.json()[0];
    assert!(one.get(format!("seen_{TOKEN}")).is_some() && one["title"].as_str().unwrap().contains(TOKEN));
    assert!(client(&twin).get("/repos/acme/none").await.json()["message"].as_str().unwrap().contains(TOKEN));
    twin.fault(Fault::once(PULLS, FaultAction::Moved { location: "https://elsewhere.example/".into() }));
    assert!(client(&twin).get(PULLS).await.header("location").contains(TOKEN));
    assert!(!anonymous(&twin).get(PULLS).await.text().contains(TOKEN));
}

#[tokio::test]
async fn the_same_can_be_done_and_seen_over_http() {
    let twin = twin().await;
    let plain = anonymous(&twin);
    let fault = json!({"path": "/user", "action": {"kind": "server", "status": 503}});
    assert_eq!(plain.post("/twin/fault", &fault).await.json()["faults"].as_array().unwrap().len(), 1);
    assert_eq!(plain.post("/twin/fault", &json!({"typo": 1})).await.status, 400);
    assert_eq!(client(&twin).get("/user").await.status, 503);
    let seen = plain.get("/twin/requests").await;
    assert_eq!(seen.json()[0]["path"], "/user");
    assert!(!seen.text().contains(TOKEN), "the log keeps the token to itself");
    assert_eq!(plain.post("/twin/clear", &json!({})).await.status, 200);
    assert_eq!(plain.get("/twin/requests").await.json(), json!([]));
    assert_eq!(plain.get("/twin/none").await.status, 404);
}
