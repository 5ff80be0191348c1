//! Messages out: what people see after each call, and the real refusals.

use serde_json::json;

use super::client::{call, twin};
use crate::slack::{Action, Post};

#[tokio::test]
async fn a_reply_is_seen_in_its_thread_with_its_pings_and_edits() {
    let twin = twin().await;
    let asked = twin.post(Post::new("C0GENERAL", "U0ANN", "question")).unwrap();
    let arguments = json!({"channel": "C0GENERAL", "thread_ts": asked.ts, "text": "hi <@U0ANN> <!here>"});
    let sent = call(&twin, "chat.postMessage", arguments).await;
    let ts = sent["ts"].as_str().unwrap().to_owned();
    call(&twin, "chat.update", json!({"channel": "C0GENERAL", "ts": ts, "text": "bye"})).await;
    let ledger = twin.ledger();
    let seen = ledger.message("C0GENERAL", &ts).unwrap();
    assert_eq!((seen.text.as_str(), seen.by_app, seen.author.as_str()), ("bye", true, "U0BOT"));
    assert_eq!(seen.thread_ts.as_deref(), Some(asked.ts.as_str()));
    assert_eq!(seen.edits[0].previous_text, "hi <@U0ANN> <!here>");
    call(&twin, "chat.delete", json!({"channel": "C0GENERAL", "ts": ts})).await;
    assert!(twin.ledger().message("C0GENERAL", &ts).unwrap().deleted);
    assert_eq!(twin.ledger().by_app().count(), 0);
}

#[tokio::test]
async fn a_refused_message_is_seen_by_nobody() {
    let twin = twin().await;
    twin.act(Action::Archive { channel: "C0DOCS".into() }).unwrap();
    let long = "x".repeat(12_001);
    let sections: Vec<_> =
        (0..5).map(|_| json!({"type": "section", "text": {"text": "y".repeat(2_900)}})).collect();
    let cases = [
        (json!({"channel": "C0NONE", "text": "x"}), "channel_not_found"),
        (json!({"channel": "C0RANDOM", "text": "x"}), "not_in_channel"),
        (json!({"channel": "C0DOCS", "text": "x"}), "is_archived"),
        (json!({"channel": "U0NOBODY", "text": "x"}), "channel_not_found"),
        (json!({"channel": "U0BOT", "text": "x"}), "cannot_dm_bot"),
        (json!({"channel": "C0GENERAL", "text": "  "}), "no_text"),
        (json!({"channel": "C0GENERAL", "markdown_text": long}), "msg_too_long"),
        (json!({"channel": "C0GENERAL", "markdown_text": "a", "text": "b"}), "markdown_text_conflict"),
        (json!({"channel": "C0GENERAL", "text": "a", "blocks": sections}), "msg_blocks_too_long"),
        (json!({"channel": "C0GENERAL", "text": "a", "blocks": [{}]}), "invalid_blocks"),
        (json!({"channel": "C0GENERAL", "text": "a", "metadata": {"x": 1}}), "invalid_metadata_format"),
    ];
    for (arguments, code) in cases {
        let answer = call(&twin, "chat.postMessage", arguments.clone()).await;
        assert_eq!((&answer["ok"], &answer["error"]), (&json!(false), &json!(code)), "{arguments}");
    }
    assert!(twin.ledger().messages.is_empty());
}

#[tokio::test]
async fn long_text_is_split_and_overlong_text_is_cut_with_a_warning() {
    let twin = twin().await;
    call(&twin, "chat.postMessage", json!({"channel": "C0GENERAL", "text": "x".repeat(4_001)})).await;
    let seen: Vec<usize> = twin.ledger().messages.iter().map(|m| m.text.len()).collect();
    assert_eq!(seen, [4_000, 1]);
    twin.knobs(|k| k.split_text = false);
    let answer =
        call(&twin, "chat.postMessage", json!({"channel": "C0GENERAL", "text": "x".repeat(40_001)})).await;
    assert_eq!(answer["warning"], "message_truncated");
    assert_eq!(twin.ledger().messages[2].text.len(), 40_000);
}

#[tokio::test]
async fn a_message_to_a_person_opens_the_direct_message() {
    let twin = twin().await;
    let sent = call(&twin, "chat.postMessage", json!({"channel": "U0ANN", "markdown_text": "**hi**"})).await;
    assert_eq!(sent["channel"], "D0ANN");
    let opened = call(&twin, "conversations.open", json!({"users": "U0ANN,U0BOB"})).await;
    assert_eq!(opened["channel"]["id"], "G0MPIM");
}

#[tokio::test]
async fn reactions_answer_as_slack_does_and_stay_in_the_ledger() {
    let twin = twin().await;
    let asked = twin.post(Post::new("C0GENERAL", "U0ANN", "question")).unwrap();
    let item = json!({"channel": "C0GENERAL", "timestamp": asked.ts, "name": "eyes"});
    assert_eq!(call(&twin, "reactions.add", item.clone()).await["ok"], true);
    assert_eq!(call(&twin, "reactions.add", item.clone()).await["error"], "already_reacted");
    assert_eq!(twin.ledger().messages[0].reactions[0].users, ["U0BOT"]);
    assert_eq!(call(&twin, "reactions.get", item.clone()).await["message"]["reactions"][0]["count"], 1);
    assert_eq!(call(&twin, "reactions.remove", item.clone()).await["ok"], true);
    assert_eq!(call(&twin, "reactions.remove", item).await["error"], "no_reaction");
    let missing = json!({"channel": "C0GENERAL", "timestamp": "1.000000", "name": "eyes"});
    assert_eq!(call(&twin, "reactions.add", missing).await["error"], "message_not_found");
}

#[tokio::test]
async fn an_ephemeral_message_is_seen_by_one_person_and_cannot_be_read_back() {
    let twin = twin().await;
    let arguments = json!({"channel": "C0GENERAL", "user": "U0ANN", "text": "psst"});
    assert_eq!(call(&twin, "chat.postEphemeral", arguments).await["ok"], true);
    assert_eq!(twin.ledger().messages[0].ephemeral_to.as_deref(), Some("U0ANN"));
    let history = call(&twin, "conversations.history", json!({"channel": "C0GENERAL"})).await;
    assert_eq!(history["messages"], json!([]));
}
