//! Socket Mode: hello, events, acknowledgement, retries, ends.

use std::collections::BTreeSet;

use serde_json::json;
use tokio_tungstenite::connect_async;

use super::client::{LIMIT, Socket, call, hasty_twin, ticket_url, twin};
use crate::slack::{Action, Post};

#[tokio::test]
async fn a_mention_arrives_as_message_and_as_app_mention_with_own_event_ids() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    assert_eq!((&socket.hello["type"], &socket.hello["num_connections"]), (&json!("hello"), &json!(1)));
    let posted = twin.post(Post::mention("C0GENERAL", "U0ANN", "hi")).unwrap();
    let (first, second) = (socket.event().await, socket.event().await);
    assert_eq!((&first["type"], &second["type"]), (&json!("message"), &json!("app_mention")));
    assert_eq!((&first["ts"], &second["ts"]), (&json!(posted.ts), &json!(posted.ts)));
    assert_eq!(first["channel_type"], "channel");
    assert!(second.get("channel_type").is_none());
    assert_eq!(
        second["blocks"][0]["elements"][0]["elements"][0],
        json!({"type": "user", "user_id": "U0BOT"})
    );
    assert_eq!(posted.event_ids.len(), 2);
    assert_ne!(posted.event_ids[0], posted.event_ids[1]);
    twin.wait_for(LIMIT, |t| (t.counters().acks.len() == 2).then_some(())).await.unwrap();
    assert!(twin.counters().unacked.is_empty());
}

#[tokio::test]
async fn a_typed_name_and_a_direct_message_raise_no_app_mention() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    let typed = Post { typed: true, ..Post::new("C0GENERAL", "U0ANN", "<@U0BOT> and @loom") };
    assert_eq!(twin.post(typed).unwrap().event_ids.len(), 1);
    assert_eq!(socket.event().await["text"], "&lt;@U0BOT&gt; and @loom");
    assert_eq!(twin.post(Post::mention("D0ANN", "U0ANN", "hi")).unwrap().event_ids.len(), 1);
    assert_eq!(socket.event().await["channel_type"], "im");
    assert!(twin.post(Post::mention("C0RANDOM", "U0ANN", "hi")).unwrap().event_ids.is_empty());
}

#[tokio::test]
async fn an_unacknowledged_event_comes_again_until_it_is_given_up() {
    let twin = hasty_twin().await;
    let mut socket = Socket::open(&twin).await;
    let posted = twin.post(Post::new("C0GENERAL", "U0ANN", "hi")).unwrap();
    for attempt in 0..4 {
        let envelope = socket.next().await.unwrap();
        assert_eq!(envelope["retry_attempt"], attempt);
        assert_eq!(envelope["retry_reason"], if attempt == 0 { "" } else { "timeout" });
        assert_eq!(envelope["payload"]["event_id"], posted.event_ids[0]);
    }
    twin.wait_for(LIMIT, |t| (t.counters().given_up.len() == 1).then_some(())).await.unwrap();
}

#[tokio::test]
async fn edits_deletions_and_previews_tell_themselves_apart() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    let posted = twin.post(Post::new("C0GENERAL", "U0ANN", "one")).unwrap();
    socket.event().await;
    let (channel, ts) = (posted.channel.clone(), posted.ts.clone());
    twin.act(Action::Unfurl { channel: channel.clone(), ts: ts.clone() }).unwrap();
    assert!(socket.event().await["message"].get("edited").is_none());
    twin.act(Action::Edit { channel: channel.clone(), ts: ts.clone(), text: "two".into() }).unwrap();
    let changed = socket.event().await;
    assert_eq!(
        (&changed["message"]["text"], &changed["previous_message"]["text"]),
        (&json!("two"), &json!("one"))
    );
    assert_eq!((&changed["hidden"], &changed["message"]["edited"]["user"]), (&json!(true), &json!("U0ANN")));
    twin.act(Action::Delete { channel, ts: ts.clone() }).unwrap();
    assert_eq!(socket.event().await["deleted_ts"], json!(ts));
}

#[tokio::test]
async fn own_posts_are_echoed_and_joins_are_told() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    call(&twin, "chat.postMessage", json!({"channel": "C0GENERAL", "text": "hello"})).await;
    let echo = socket.event().await;
    assert_eq!((&echo["bot_id"], &echo["user"]), (&json!("B0BOT"), &json!("U0BOT")));
    twin.act(Action::Join { channel: "C0RANDOM".into(), user: "U0BOT".into() }).unwrap();
    assert_eq!(socket.event().await["type"], "member_joined_channel");
    twin.act(Action::AppRateLimited { minute: 7 }).unwrap();
    let envelope = socket.next().await.unwrap();
    assert_eq!(envelope["payload"]["type"], "app_rate_limited");
    assert!(envelope["payload"].get("event").is_none());
}

#[tokio::test]
async fn tickets_are_used_once_and_the_eleventh_socket_is_turned_away() {
    let twin = twin().await;
    let url = ticket_url(&twin).await;
    let _first = connect_async(url.as_str()).await.unwrap();
    assert!(connect_async(url.as_str()).await.is_err());
    twin.wait_for_sockets(1, LIMIT).await.unwrap();
    let mut open = Vec::new();
    for _ in 0..9 {
        open.push(Socket::open(&twin).await);
    }
    let mut eleventh = Socket::open(&twin).await;
    assert_eq!(eleventh.hello["reason"], "too_many_websockets");
    assert!(eleventh.next().await.is_none());
    assert_eq!(twin.counters().sockets_max, 10);
}

#[tokio::test]
async fn a_refresh_announces_itself_and_closes() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    twin.disconnect("refresh_requested");
    assert_eq!(socket.next().await.unwrap()["reason"], "refresh_requested");
    assert!(socket.next().await.is_none());
    twin.wait_for(LIMIT, |t| (t.counters().sockets_open == 0).then_some(())).await.unwrap();
}

#[tokio::test]
async fn a_silent_twin_keeps_the_socket_but_sends_nothing() {
    let twin = twin().await;
    let _socket = Socket::open(&twin).await;
    twin.knobs(|k| k.silent = true);
    twin.post(Post::mention("C0GENERAL", "U0ANN", "hi")).unwrap();
    assert_eq!(twin.counters().events_suppressed, 2);
    let history = call(&twin, "conversations.history", json!({"channel": "C0GENERAL"})).await;
    assert_eq!(history["messages"][0]["text"], "<@U0BOT> hi");
}

#[tokio::test]
async fn a_stalled_socket_swallows_an_event_and_the_retry_finds_the_other() {
    let twin = hasty_twin().await;
    let _dead = Socket::open(&twin).await;
    twin.act(Action::StallSockets {}).unwrap();
    let mut alive = Socket::open(&twin).await;
    for n in 0..2 {
        twin.post(Post::new("C0GENERAL", "U0ANN", &format!("m{n}"))).unwrap();
    }
    // The first attempts alternate; what fell into the dead socket comes by a retry.
    let mut texts = BTreeSet::new();
    while texts.len() < 2 {
        texts.insert(alive.event().await["text"].as_str().unwrap().to_owned());
    }
    twin.wait_for(LIMIT, |t| t.counters().acks.iter().any(|a| a.attempt > 0).then_some(())).await.unwrap();
}

#[tokio::test]
async fn copies_have_new_event_ids_and_a_redelivery_has_the_old_one() {
    let twin = twin().await;
    let mut socket = Socket::open(&twin).await;
    let posted = twin.post(Post::new("C0GENERAL", "U0ANN", "hi")).unwrap();
    let first = socket.next().await.unwrap();
    socket.ack(&first).await;
    let event_id = posted.event_ids[0].clone();
    twin.act(Action::Redeliver { event_id: event_id.clone() }).unwrap();
    let again = socket.next().await.unwrap();
    assert_eq!(again["envelope_id"], first["envelope_id"]);
    socket.ack(&again).await;
    twin.act(Action::Duplicate { event_id: event_id.clone(), copies: 1 }).unwrap();
    let copy = socket.next().await.unwrap();
    assert_ne!(copy["payload"]["event_id"], json!(event_id));
    assert_eq!(copy["payload"]["event"]["ts"], json!(posted.ts));
}
