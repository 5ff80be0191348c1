//! What a Turn's final answer becomes.

use std::time::Duration;

use loom_api::request::{Content, Send};
use loom_domain::{Code, Principal, inbox::State, reason::ItemReason};

use super::house::House;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_150_a_heartbeat_alone_is_no_answer() {
    let house = House::up().await;
    let (platform, _, _) = house.furnish("cat >/dev/null; echo HEARTBEAT_OK", &["C1"]).await;
    let item = house.say(&platform, "C1", "1.1").await;
    let detail = house.item_is(&item, State::NeedsDecision).await;
    assert_eq!(detail.entry.item.state_reason, Some(ItemReason::EmptyAnswer));
    assert!(platform.with(|s| s.sent.is_empty()));
    assert_eq!(house.notices("needs_decision").await.len(), 1);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_177_an_answer_too_long_for_messages_goes_as_its_first_chunk_and_a_file() {
    let house = House::up().await;
    let script = "cat >/dev/null; yes 'some words of a long answer' | head -n 20000";
    let (platform, _, address) = house.furnish(script, &["C1"]).await;
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::Handled).await;
    let sent = platform.with(|s| s.sent.clone());
    assert_eq!(sent.len(), 2);
    assert!(sent[0].text.as_deref().is_some_and(|text| text.starts_with("some words")));
    assert_eq!(sent[1].file.as_deref(), Some("answer.md"));
    let membership = house.channel(&address, "C1").await;
    let send = Send {
        from: Some("docs".to_owned()),
        membership_id: Some(membership.to_string()),
        idempotency_key: Some("k".to_owned()),
        content: Content { text: "some words\n".repeat(50_000), ..Content::default() },
        ..Send::default()
    };
    let refused = house.hub().send(Principal::Owner, send, Duration::ZERO).await.unwrap_err();
    assert_eq!(refused.code, Code::TextTooLong);
    house.end().await;
}
