//! Planned failures: what the client sees and what happened all the same.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{call, request, send, try_call, twin};
use crate::slack::{Fault, FaultAction};

const POST: &str = "chat.postMessage";

#[tokio::test]
async fn a_lost_answer_leaves_the_message_and_a_lost_request_does_not() {
    let twin = twin().await;
    let hello = || json!({"channel": "C0GENERAL", "text": "hello"});
    twin.drop_next_answer(POST);
    assert!(try_call(&twin, POST, hello()).await.is_err());
    assert_eq!(twin.ledger().messages.len(), 1);
    twin.fault(Fault::once(POST, FaultAction::DropRequest));
    assert!(try_call(&twin, POST, hello()).await.is_err());
    assert_eq!(twin.ledger().messages.len(), 1);
    twin.fault(Fault::once(POST, FaultAction::ResetAfterBytes { bytes: 5 }));
    assert!(try_call(&twin, POST, hello()).await.is_err());
    assert_eq!(twin.ledger().messages.len(), 2);
    let outcomes: Vec<String> = twin.requests_of(POST).into_iter().map(|r| r.outcome).collect();
    assert_eq!(outcomes, ["drop_answer", "drop_request", "reset_after_bytes"]);
}

#[tokio::test]
async fn errors_statuses_and_429_come_as_planned_and_then_stop() {
    let twin = twin().await;
    let hello = || json!({"channel": "C0GENERAL", "text": "hello"});
    twin.fault(Fault::once(POST, FaultAction::Error { code: "fatal_error".into() }));
    twin.fault(Fault::once(POST, FaultAction::ErrorAfterActing { code: "internal_error".into() }));
    twin.fault(Fault::once(POST, FaultAction::StatusAfterActing { status: 502 }));
    twin.fault(Fault::once(POST, FaultAction::RateLimited { retry_after_secs: Some(7) }));
    twin.fault(Fault::once(POST, FaultAction::RateLimited { retry_after_secs: None }));
    assert_eq!(call(&twin, POST, hello()).await["error"], "fatal_error");
    assert_eq!(twin.ledger().messages.len(), 0);
    assert_eq!(call(&twin, POST, hello()).await["error"], "internal_error");
    assert_eq!(try_call(&twin, POST, hello()).await.unwrap().status, 502);
    assert_eq!(twin.ledger().messages.len(), 2);
    let limited = try_call(&twin, POST, hello()).await.unwrap();
    assert_eq!((limited.status, limited.headers["retry-after"].to_str().unwrap()), (429, "7"));
    let bare = try_call(&twin, POST, hello()).await.unwrap();
    assert_eq!((bare.status, bare.headers.get("retry-after")), (429, None));
    assert_eq!(call(&twin, POST, hello()).await["ok"], true);
    assert_eq!(twin.ledger().messages.len(), 3);
}

#[tokio::test]
async fn a_delayed_answer_comes_after_the_effect() {
    let twin = twin().await;
    twin.fault(Fault::once(POST, FaultAction::DelayAnswer { ms: 150 }));
    let start = Instant::now();
    let sending = call(&twin, POST, json!({"channel": "C0GENERAL", "text": "hello"}));
    let seen = twin.wait_for_app_messages(1, Duration::from_secs(20));
    let (answer, ledger) = tokio::join!(sending, seen);
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert_eq!((&answer["ok"], ledger.unwrap().messages.len()), (&json!(true), 1));
}

#[tokio::test]
async fn the_same_can_be_done_and_seen_over_http() {
    let twin = twin().await;
    let post = async |path: &str, body: &str| {
        let request = request(&twin, "POST", path);
        send(&twin, request.body(body.to_owned().into()).unwrap()).await.unwrap()
    };
    let said =
        post("/twin/post", r#"{"channel":"C0GENERAL","user":"U0ANN","text":"hi","mention":true}"#).await;
    assert_eq!((said.status, said.json()["event_ids"].as_array().unwrap().len()), (200, 2));
    assert_eq!(post("/twin/post", r#"{"channel":"C0NONE","user":"U0ANN"}"#).await.status, 400);
    assert_eq!(post("/twin/nope", "{}").await.status, 400);
    let fault = r#"{"method":"auth.test","times":2,"action":{"kind":"error","code":"account_inactive"}}"#;
    assert_eq!(post("/twin/fault", fault).await.status, 200);
    assert_eq!(call(&twin, "auth.test", json!({})).await["error"], "account_inactive");
    assert_eq!(post("/twin/knobs", r#"{"silent":true}"#).await.json()["silent"], true);
    assert_eq!(post("/twin/knobs", r#"{"typo":true}"#).await.status, 400);
    let get = async |path: &str| {
        let request = request(&twin, "GET", path);
        send(&twin, request.body("".into()).unwrap()).await.unwrap()
    };
    let ledger = get("/twin/ledger").await.json();
    assert_eq!(
        (&ledger["format"], &ledger["messages"][0]["text"]),
        (&json!("loom-slack-transcript/1"), &json!("<@U0BOT> hi"))
    );
    assert_eq!(get("/twin/counters").await.json()["calls"]["auth.test"], 1);
    assert_eq!(get("/twin/requests").await.json()[0]["headers"]["authorization"], "bot");
    assert_eq!(get("/twin/none").await.status, 404);
}
