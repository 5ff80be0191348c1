//! Reading back: paging, metadata, scopes, tokens and encodings.

use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Value, json};

use super::client::{BOT, call, request, send, twin};
use crate::slack::{Action, Post, SlackTwin};

async fn pages(twin: &SlackTwin, method: &str, mut arguments: Value) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let page = call(twin, method, arguments.clone()).await;
        assert_eq!(page["ok"], true, "{page}");
        seen.extend(
            page["messages"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap().to_owned()),
        );
        match page["response_metadata"]["next_cursor"].as_str() {
            Some(next) if !next.is_empty() => arguments["cursor"] = json!(next),
            _ => return seen,
        }
    }
}

#[tokio::test]
async fn history_is_newest_first_and_a_thread_is_oldest_first() {
    let twin = twin().await;
    let root = twin.post(Post::new("C0GENERAL", "U0ANN", "root")).unwrap();
    for n in 0..3 {
        twin.post(Post::new("C0GENERAL", "U0BOB", &format!("r{n}")).in_thread(&root.ts)).unwrap();
    }
    let last = twin.post(Post::new("C0GENERAL", "U0ANN", "last")).unwrap();
    let all = json!({"channel": "C0GENERAL", "limit": 1});
    assert_eq!(pages(&twin, "conversations.history", all).await, ["last", "root"]);
    let thread = json!({"channel": "C0GENERAL", "ts": root.ts, "limit": 2});
    assert_eq!(pages(&twin, "conversations.replies", thread).await, ["root", "r0", "r1", "r2"]);
    let since = json!({"channel": "C0GENERAL", "oldest": root.ts});
    assert_eq!(pages(&twin, "conversations.history", since).await, ["last"]);
    let until = json!({"channel": "C0GENERAL", "latest": last.ts, "inclusive": true, "oldest": last.ts});
    assert_eq!(pages(&twin, "conversations.history", until).await, ["last"]);
}

#[tokio::test]
async fn metadata_payload_shows_only_when_asked_for_or_declared() {
    let twin = twin().await;
    let metadata = json!({"event_type": "loom_outbox", "event_payload": {"part": "p1"}});
    let arguments = json!({"channel": "C0GENERAL", "text": "x", "metadata": metadata});
    call(&twin, "chat.postMessage", arguments).await;
    let read = async |all: bool| {
        let arguments = json!({"channel": "C0GENERAL", "include_all_metadata": all});
        call(&twin, "conversations.history", arguments).await["messages"][0]["metadata"].clone()
    };
    assert_eq!(read(true).await, metadata);
    assert_eq!(read(false).await, json!({"event_type": "loom_outbox", "event_payload": {}}));
    twin.knobs(|k| k.declared_metadata = ["loom_outbox".to_owned()].into());
    assert_eq!(read(false).await, metadata);
    twin.knobs(|k| k.metadata_hidden = true);
    assert_eq!(read(true).await, Value::Null);
}

#[tokio::test]
async fn a_missing_scope_names_what_is_needed_and_what_there_is() {
    let twin = twin().await;
    twin.act(Action::RemoveScope { scope: "groups:history".into() }).unwrap();
    let answer = call(&twin, "conversations.history", json!({"channel": "G0PRIVATE"})).await;
    assert_eq!((&answer["error"], &answer["needed"]), (&json!("missing_scope"), &json!("groups:history")));
    assert!(answer["provided"].as_str().unwrap().contains("channels:history"));
    assert_eq!(call(&twin, "conversations.history", json!({"channel": "C0GENERAL"})).await["ok"], true);
    twin.knobs(|k| k.history_disabled = true);
    let answer =
        call(&twin, "conversations.replies", json!({"channel": "C0GENERAL", "ts": "1.000000"})).await;
    assert_eq!(answer["needed"], "channels:history");
}

#[tokio::test]
async fn tokens_are_checked_in_every_place_they_may_stand() {
    let twin = twin().await;
    let form = |fields: &str| {
        let request = request(&twin, "POST", "/api/auth.test?");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        send(&twin, request.body(Full::new(Bytes::from(fields.to_owned()))).unwrap())
    };
    assert_eq!(form("").await.unwrap().json()["error"], "not_authed");
    assert_eq!(form("token=xoxb-wrong").await.unwrap().json()["error"], "invalid_auth");
    let good = form(&format!("token={BOT}")).await.unwrap();
    assert!(good.headers["x-oauth-scopes"].to_str().unwrap().contains("chat:write"));
    assert_eq!(good.json()["user_id"], "U0BOT");
    twin.act(Action::RevokeTokens {}).unwrap();
    assert_eq!(form(&format!("token={BOT}")).await.unwrap().json()["error"], "token_revoked");
    let open =
        request(&twin, "POST", "/api/apps.connections.open").header("authorization", format!("Bearer {BOT}"));
    twin.act(Action::RestoreTokens {}).unwrap();
    let answer = send(&twin, open.body(Full::default()).unwrap()).await.unwrap();
    assert_eq!(answer.json()["error"], "not_allowed_token_type");
}

#[tokio::test]
async fn directory_reads_show_what_the_bot_can_see() {
    let twin = twin().await;
    let list = call(&twin, "conversations.list", json!({"types": "public_channel,im", "limit": 999})).await;
    let ids: Vec<&str> =
        list["channels"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["C0DOCS", "C0GENERAL", "C0RANDOM", "D0ANN", "D0BOB"]);
    assert_eq!(
        call(&twin, "users.info", json!({"user": "U0ANN"})).await["user"]["profile"]["display_name"],
        "Ann"
    );
    assert_eq!(call(&twin, "users.info", json!({"user": "U0NO"})).await["error"], "user_not_found");
    assert_eq!(call(&twin, "bots.info", json!({"bot": "B0BOT"})).await["bot"]["app_id"], "A0001");
    assert_eq!(call(&twin, "nope.nope", json!({})).await["error"], "unknown_method");
}

#[tokio::test]
async fn a_foreign_host_name_is_refused() {
    let twin = twin().await;
    let request = http::Request::builder().uri("/twin/ledger").header("host", "evil.example:80");
    let reply = send(&twin, request.body(Full::default()).unwrap()).await.unwrap();
    assert_eq!(reply.status, 421);
}
