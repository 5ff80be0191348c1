//! Parts on their way to the platform.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loom_api::request::{AddressPolicy, Content, File, Send};
use loom_channels::{Fault, FaultClass, Identity};
use loom_domain::{
    Expectation, MembershipId, OutboxId,
    artifact::Direction,
    connection::{ConnectionState, GatewayMode},
    outbox::{ReplyState, State},
};

use super::house::{House, until};
use crate::{courier::deliver, gateway::SessionHolder, sweep};

const ECHO: &str = "cat >/dev/null; echo done";

async fn send_file(house: &House, membership: &MembershipId, text: &str, bytes: &'static [u8]) -> OutboxId {
    let bytes = Bytes::from_static(bytes);
    let stored = house.hub().put_artifact(house.act(), "a.txt", None, Direction::Out, bytes).await.unwrap();
    let file = File { artifact_id: Some(stored.id.to_string()), ..File::default() };
    let content = Content { text: text.to_owned(), files: vec![file], ..Content::default() };
    house.send(membership, Send { content, ..Send::default() }).await
}

/// The lease is a minute by the wall clock; the upload takes two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_186_a_slow_upload_keeps_its_lease_and_is_done_once() {
    let house = House::up().await;
    house.agent("docs", ECHO).await;
    let (platform, connection) = house.connect("A1", GatewayMode::External).await;
    let address = house.bind("docs", &connection, AddressPolicy::default()).await;
    let membership = house.channel(&address, "C1").await;
    let sent = send_file(&house, &membership, "", b"many bytes").await;
    let store = house.store().clone();
    let name = format!("connection:{}", connection.id);
    let fence = store.lease(house.act(), name, 3_600_000, None).await.unwrap().fence;
    let claimed =
        store.claim_parts(house.act(), connection.id.clone(), 1, vec![], fence).await.unwrap().remove(0);
    platform.hold("C1");
    let holder = SessionHolder {
        hub: house.hub().clone(),
        connection: Arc::new(connection),
        fence,
        channel: platform.clone(),
        identity: Arc::new(Identity::default()),
    };
    let (attempt, part_fence) = (claimed.attempt.id.clone(), claimed.attempt.fence);
    let upload =
        tokio::spawn(async move { deliver::attempt(&holder, &claimed, Duration::from_millis(20)).await });
    for _ in 0..2 {
        house.pass_s(59);
        until("the lease is renewed", || async {
            let until = house.outbox(&sent).await.entry.parts[0].lease_until;
            until.is_some_and(|until| until.since_ms(house.now()) > 30_000).then_some(())
        })
        .await;
    }
    platform.open("C1");
    let event = upload.await.unwrap();
    store.finish_part(house.act(), attempt, part_fence, event).await.unwrap();
    let detail = house.outbox_is(&sent, State::Sent).await;
    assert_eq!((detail.attempts.len(), platform.tries("C1")), (1, 1));
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_190_a_rate_limit_holds_its_own_conversation_and_costs_no_try() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(ECHO, &["C1", "C2"]).await;
    let (one, two) = (house.channel(&address, "C1").await, house.channel(&address, "C2").await);
    let mut fault = Fault::new(FaultClass::RateLimited, "ratelimited", "slow down");
    fault.retry_after_ms = Some(60_000);
    platform.fail_next("C1", fault);
    let limited = house.send_text(&one, "first").await;
    until("the platform asks for a pause", || async { (platform.tries("C1") == 1).then_some(()) }).await;
    let other = house.send_text(&two, "second").await;
    house.outbox_is(&other, State::Sent).await;
    let waiting = house.outbox_is(&limited, State::RetryWait).await;
    assert_eq!(waiting.entry.parts[0].attempt_count, 0);
    assert_eq!(platform.tries("C1"), 1);
    house.pass_s(61);
    let done = house.outbox_is(&limited, State::Sent).await;
    assert_eq!((done.entry.parts[0].attempt_count, platform.tries("C1")), (0, 2));
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_192_a_permanent_error_is_one_try_a_dead_letter_and_nobody_elses_trouble() {
    let house = House::up().await;
    let (platform, connection, address) = house.furnish(ECHO, &["C1", "C2"]).await;
    let (one, two) = (house.channel(&address, "C1").await, house.channel(&address, "C2").await);
    platform.fail_next("C1", Fault::new(FaultClass::Permanent, "channel_not_found", "no such channel"));
    let dead = house.send_text(&one, "first").await;
    let failed = house.outbox_is(&dead, State::Failed).await;
    assert_eq!(failed.attempts.len(), 1);
    assert_eq!(house.notices("dead_letter").await.len(), 1);
    let other = house.send_text(&two, "second").await;
    house.outbox_is(&other, State::Sent).await;
    let health = house.hub().connection_health(&connection.id);
    assert_eq!((health.state, health.last_error), (ConnectionState::Connected, None));
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_193_a_local_fault_is_tried_again_and_the_file_is_kept() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(ECHO, &["C1"]).await;
    let membership = house.channel(&address, "C1").await;
    platform.hold("C1");
    let sent = send_file(&house, &membership, "a file", b"kept bytes").await;
    until("the text is on its way", || async { (platform.tries("C1") == 1).then_some(()) }).await;
    let part = house.outbox(&sent).await.entry.parts[1].clone();
    let path = house.hub().blobs().verified(&part.sha256.unwrap()).await.unwrap();
    let aside = house.path("aside");
    std::fs::rename(&path, &aside).unwrap();
    platform.open("C1");
    let waiting = house.outbox_is(&sent, State::RetryWait).await;
    let error = waiting.entry.parts[1].last_error.clone().unwrap();
    assert_eq!(error.class, "retryable");
    assert!(house.store().artifact(part.artifact_id.unwrap()).await.is_ok());
    std::fs::rename(&aside, &path).unwrap();
    house.pass_s(10);
    house.outbox_is(&sent, State::Sent).await;
    assert_eq!(platform.tries("C1"), 2);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_198_large_uploads_delay_their_own_conversations_only() {
    let house = House::up().await;
    let uploads = ["C1", "C2", "C3", "C4"];
    let (platform, _, address) = house.furnish(ECHO, &["C9"]).await;
    for conversation in uploads {
        platform.hold(conversation);
        let membership = house.channel(&address, conversation).await;
        send_file(&house, &membership, "", b"many bytes").await;
    }
    let all = || async { uploads.iter().all(|c| platform.tries(c) == 1).then_some(()) };
    until("every upload is on its way", all).await;
    let item = house.say(&platform, "C9", "1.1").await;
    house.item_is(&item, loom_domain::inbox::State::Handled).await;
    assert_eq!(platform.texts("C9"), ["done"]);
    assert_eq!(platform.with(|s| s.sent.len()), 1);
    uploads.iter().for_each(|c| platform.open(c));
    until("the uploads end", || async { (platform.with(|s| s.sent.len()) == 5).then_some(()) }).await;
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_179_an_expected_answer_comes_or_is_overdue() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(ECHO, &["C1"]).await;
    let membership = house.channel(&address, "C1").await;
    let ask = |text: &str| Send {
        content: Content { text: text.to_owned(), ..Content::default() },
        expect_reply: Some(Expectation::Required),
        ttl_seconds: Some(60),
        ..Send::default()
    };
    let answered = house.send(&membership, ask("who is there?")).await;
    let thread = house.outbox_is(&answered, State::Sent).await.entry.parts[0].receipt.clone().unwrap();
    let mut event = house.mention("C1", "1.2");
    event.conversation.thread_id = thread.external_message_id;
    house.event(&platform, event).await;
    assert_eq!(house.outbox(&answered).await.entry.item.reply_state, ReplyState::Answered);
    let ignored = house.send(&membership, ask("anybody else?")).await;
    house.outbox_is(&ignored, State::Sent).await;
    house.pass_s(61);
    sweep::once(house.hub()).await;
    assert_eq!(house.outbox(&ignored).await.entry.item.reply_state, ReplyState::Overdue);
    assert_eq!(house.notices("reply_overdue").await.len(), 1);
    assert_eq!(house.outbox(&answered).await.entry.item.reply_state, ReplyState::Answered);
    house.end().await;
}
