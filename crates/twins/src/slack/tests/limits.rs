//! Rate limits and the end of the twin.

use serde_json::json;

use super::client::{Socket, call, try_call, twin};
use crate::slack::Config;
use crate::slack::SlackTwin;

#[tokio::test]
async fn a_sixth_message_at_once_is_throttled_and_not_seen() {
    let twin = twin().await;
    twin.knobs(|k| k.rate_limits = true);
    for _ in 0..5 {
        let sent = call(&twin, "chat.postMessage", json!({"channel": "C0GENERAL", "text": "x"})).await;
        assert_eq!(sent["ok"], true);
    }
    let sixth =
        try_call(&twin, "chat.postMessage", json!({"channel": "C0GENERAL", "text": "x"})).await.unwrap();
    assert_eq!(sixth.status, 429);
    assert!(sixth.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(twin.ledger().messages.len(), 5);
}

#[tokio::test]
async fn shutdown_waits_for_every_task_and_frees_the_port() {
    let twin = twin().await;
    let port = twin.address().port();
    let mut socket = Socket::open(&twin).await;
    twin.shutdown().await;
    assert!(socket.next().await.is_none());
    SlackTwin::start(Config { port, ..Config::default() }).await.unwrap().shutdown().await;
}
