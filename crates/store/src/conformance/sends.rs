//! Sends: idempotency, claim order, unknown Parts, settlement, expiry, cancellation.

use loom_api::query;
use loom_domain::{
    AttemptId, Code, Expectation, MembershipId, OutboxId, Principal, Receipt, Timestamp,
    artifact::Direction,
    inbox::State as ItemState,
    message::AttachmentStatus,
    outbox::{
        OutboxReason, PartError, PartEvent, PartKind, PartState, ReplyState, Settled, State, Step, Via,
    },
};

use super::{both, world::World};
use crate::ops::{
    artifacts::NewArtifact,
    outbox::{ClaimedPart, Draft, DraftFile, OwnerSettle, Sent, To},
};

pub(super) fn draft(text: &str) -> Draft {
    Draft { text: text.to_owned(), chunks: vec![text.to_owned()], ..Draft::default() }
}

fn keyed(text: &str, key: &str) -> Draft {
    Draft { idempotency_key: Some(key.to_owned()), ..draft(text) }
}

fn to(world: &World, membership: &MembershipId) -> To {
    To::Membership { membership: membership.clone(), from: world.agent_id(), target_belongs: None }
}

async fn send(world: &World, membership: &MembershipId, draft: Draft) -> Sent {
    world.store().send(world.act(), to(world, membership), draft).await.unwrap()
}

async fn claim(world: &World, fence: u64) -> Vec<ClaimedPart> {
    world.store().claim_parts(world.act(), world.connection_id(), 10, vec![], fence).await.unwrap()
}

fn receipt(world: &World, part: &ClaimedPart, id: &str) -> Receipt {
    Receipt {
        kind: part.part.kind,
        external_message_id: Some(id.to_owned()),
        external_file_id: None,
        external_thread_id: None,
        permalink: None,
        artifact_id: part.part.artifact_id.clone(),
        provider_time: None,
        attempt_id: Some(part.attempt.id.clone()),
        via: Via::Response,
        recorded_at: world.now(),
    }
}

async fn publish(world: &World, part: &ClaimedPart) {
    let (id, fence) = (part.attempt.id.clone(), part.attempt.fence);
    world.store().step_part(world.act(), id, fence, Step::Publish, None).await.unwrap();
}

async fn finish(world: &World, part: &ClaimedPart, event: PartEvent) -> loom_domain::Part {
    let (id, fence): (AttemptId, u64) = (part.attempt.id.clone(), part.attempt.fence);
    world.store().finish_part(world.act(), id, fence, event).await.unwrap()
}

async fn deliver(world: &World, part: &ClaimedPart, id: &str) {
    publish(world, part).await;
    let part = finish(world, part, PartEvent::Accepted(receipt(world, part, id))).await;
    assert_eq!(part.state, PartState::Sent);
}

fn error(code: &str) -> PartError {
    PartError { class: "permanent".to_owned(), code: code.to_owned(), message: String::new() }
}

async fn state(world: &World, id: &OutboxId) -> State {
    world.store().outbox_item(id.clone()).await.unwrap().0.state
}

#[test]
fn msg_161_a_key_used_twice_or_at_once_is_one_send() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let (store, act, to) = (world.store(), world.act(), to(world, &membership));
            calls.spawn(async move { store.send(act, to, keyed("hi", "k1")).await.unwrap() });
        }
        let sent = calls.join_all().await;
        assert_eq!(sent.iter().filter(|s| !s.duplicate).count(), 1);
        assert!(sent.iter().all(|s| s.item.id == sent[0].item.id));
        assert_eq!(world.count("outbox").await, 1);
        let other =
            world.store().send(world.act(), to(world, &membership), keyed("other", "k1")).await.unwrap_err();
        assert_eq!(other.code, Code::IdempotencyConflict);
        assert!(format!("{} {}", other.message, other.detail).contains(sent[0].item.id.as_str()));
    });
}

#[test]
fn msg_162_a_failed_sends_key_names_the_retry() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let sent = send(world, &membership, keyed("hi", "k1")).await;
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        publish(world, &part).await;
        finish(world, &part, PartEvent::Permanent(error("channel_not_found"))).await;
        assert_eq!(state(world, &sent.item.id).await, State::Failed);
        let again =
            world.store().send(world.act(), to(world, &membership), keyed("hi", "k1")).await.unwrap_err();
        assert_eq!(again.code, Code::IdempotencyFailed);
        assert!(claim(world, fence).await.is_empty(), "one try");
        world.store().retry_outbox(world.act(), sent.item.id.clone()).await.unwrap();
        let part = claim(world, fence).await.remove(0);
        deliver(world, &part, "170.9").await;
        assert_eq!(state(world, &sent.item.id).await, State::Sent);
    });
}

#[test]
fn msg_163_the_key_of_another_conversation_is_another_send() {
    both(async |world: &World| {
        let (one, two) = (world.channel("C1").await, world.channel("C2").await);
        let first = send(world, &one, keyed("hi", "k1")).await;
        let second = send(world, &two, keyed("hi", "k1")).await;
        assert_ne!(first.item.id, second.item.id);
        assert!(!second.duplicate);
    });
}

async fn with_files(world: &World, names: &[&str]) -> Draft {
    let mut draft = keyed("text", "files");
    for (n, name) in names.iter().enumerate() {
        let new = NewArtifact {
            sha256: format!("{n:064x}"),
            size: 10,
            mime_type: "text/plain".to_owned(),
            declared_mime: None,
            name: (*name).to_owned(),
            direction: Direction::Out,
            status: AttachmentStatus::Ready,
        };
        let artifact = world.store().put_artifact(world.act(), new).await.unwrap();
        draft.files.push(DraftFile {
            artifact_id: artifact.id,
            file: loom_domain::admission::SendFile {
                name: artifact.name,
                size: artifact.size,
                sha256: artifact.sha256,
            },
            mime_type: artifact.mime_type,
        });
    }
    draft
}

#[test]
fn msg_189_after_a_failure_only_the_missing_file_is_sent() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let draft = with_files(world, &["a.txt", "b.txt"]).await;
        let sent = send(world, &membership, draft).await;
        let fence = world.connection_fence().await;
        for (n, kind) in [(1, PartKind::Text), (2, PartKind::File)] {
            let claimed = claim(world, fence).await;
            assert_eq!(claimed.len(), 1, "one Part of a conversation at a time");
            assert_eq!((claimed[0].part.n, claimed[0].part.kind), (n, kind));
            assert!(claim(world, fence).await.is_empty());
            deliver(world, &claimed[0], &format!("170.{n}")).await;
        }
        let third = claim(world, fence).await.remove(0);
        publish(world, &third).await;
        finish(world, &third, PartEvent::Permanent(error("file_too_bad"))).await;
        let (item, _, _) = world.store().outbox_item(sent.item.id.clone()).await.unwrap();
        assert_eq!((item.state, item.partial, item.sent_parts), (State::Failed, true, 2));
        world.reopen().await;
        world.store().retry_outbox(world.act(), sent.item.id.clone()).await.unwrap();
        let again = claim(world, fence).await;
        assert_eq!(again.iter().map(|c| c.part.n).collect::<Vec<_>>(), [3]);
        deliver(world, &again[0], "170.3").await;
        assert_eq!(state(world, &sent.item.id).await, State::Sent);
        assert!(world.store().unreferenced_artifacts(world.now().plus_ms(1)).await.unwrap().is_empty());
    });
}

#[test]
fn msg_182_a_part_published_before_a_crash_is_unknown_and_an_unpublished_one_is_sent_once() {
    both(async |world: &World| {
        let (one, two) = (world.channel("C1").await, world.channel("C2").await);
        let published = send(world, &one, keyed("a", "k1")).await.item.id;
        let prepared = send(world, &two, keyed("b", "k2")).await.item.id;
        let fence = world.connection_fence().await;
        let parts = claim(world, fence).await;
        assert_eq!(parts.len(), 2);
        publish(world, parts.iter().find(|p| p.item.id == published).unwrap()).await;
        world.reopen().await;
        let fence = world.connection_fence().await;
        assert_eq!(world.store().recover_parts(world.act(), world.connection_id()).await.unwrap(), 2);
        assert_eq!(state(world, &published).await, State::Unknown);
        let again = claim(world, fence).await;
        assert_eq!(again.iter().map(|p| p.item.id.clone()).collect::<Vec<_>>(), [prepared]);
        deliver(world, &again[0], "170.2").await;
        assert!(claim(world, fence).await.is_empty());
    });
}

#[test]
fn msg_185_an_unknown_part_waits_for_the_owner() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let sent = send(world, &membership, keyed("hi", "k1")).await.item.id;
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        publish(world, &part).await;
        finish(world, &part, PartEvent::Unknown(error("reset"))).await;
        world.store().settle_part(world.act(), part.part.id.clone(), Settled::Never).await.unwrap();
        world.pass_ms(3 * 86_400_000);
        world.store().sweep_outbox(world.act()).await.unwrap();
        assert!(claim(world, fence).await.is_empty());
        assert_eq!(state(world, &sent).await, State::Unknown);
        let cancel = world.store().cancel_outbox(world.act(), sent.clone(), None).await.unwrap_err();
        assert_eq!(cancel.code, Code::InvalidState);
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        let denied =
            world.store().settle_outbox(agent, sent.clone(), None, OwnerSettle::Failed).await.unwrap_err();
        assert_eq!(denied.code, Code::Forbidden);
        let owner = OwnerSettle::Sent { external_id: Some("170.5".to_owned()) };
        world.store().settle_outbox(world.act(), sent.clone(), None, owner).await.unwrap();
        assert_eq!(state(world, &sent).await, State::Sent);
        let echo = world.take(world.mention("EvEcho", "C1", "170.5")).await;
        assert_eq!(echo.reason, loom_domain::reason::EventReason::SelfMessage, "our own message came back");
        let path = world.store().where_is(Principal::Owner, "slack:C1/170.5".to_owned()).await.unwrap();
        assert_eq!(path.verdict, "DELIVERED", "the send counts, not its echo");
    });
}

#[test]
fn msg_187_the_first_outcome_of_a_part_stands() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let sent = send(world, &membership, keyed("hi", "k1")).await.item.id;
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        publish(world, &part).await;
        let accepted = PartEvent::Accepted(receipt(world, &part, "170.7"));
        assert_eq!(finish(world, &part, accepted).await.state, PartState::Sent);
        assert_eq!(finish(world, &part, PartEvent::Permanent(error("no"))).await.state, PartState::Sent);
        assert_eq!((state(world, &sent).await, world.count("receipts").await), (State::Sent, 1));
    });
}

#[test]
fn msg_188_a_late_success_with_an_old_fence_settles_its_part() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let sent = send(world, &membership, keyed("hi", "k1")).await.item.id;
        let old = world.connection_fence().await;
        let part = claim(world, old).await.remove(0);
        publish(world, &part).await;
        assert_eq!(world.connection_fence().await, old + 1, "another owner of the Connection");
        world.store().recover_parts(world.act(), world.connection_id()).await.unwrap();
        assert_eq!(state(world, &sent).await, State::Unknown);
        let late = finish(world, &part, PartEvent::Accepted(receipt(world, &part, "170.7"))).await;
        let kept = late.receipt.and_then(|receipt| receipt.external_message_id);
        assert_eq!((late.state, kept.as_deref()), (PartState::Sent, Some("170.7")));
        assert_eq!((state(world, &sent).await, world.count("receipts").await), (State::Sent, 1));
    });
}

#[test]
fn msg_195_replies_past_their_time_all_expire_with_one_digest() {
    both(async |world: &World| {
        let mut sent = Vec::new();
        for n in 0..110 {
            let membership = world.channel(&format!("C{}", n % 10)).await;
            let draft = Draft { ttl_seconds: Some(60), ..keyed("late", &format!("k{n}")) };
            sent.push(send(world, &membership, draft).await.item.id);
        }
        world.pass_ms(61_000);
        world.reopen().await;
        let fence = world.connection_fence().await;
        world.store().sweep_outbox(world.act()).await.unwrap();
        assert!(claim(world, fence).await.is_empty());
        for id in &sent {
            assert_eq!(state(world, id).await, State::Expired);
        }
        let notices = world.store().list_notices(query::Notices::default()).await.unwrap().items;
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert_eq!(world.count("send_attempts").await, 0);
    });
}

#[test]
fn msg_179_a_send_that_nobody_answered_is_told_however_late_the_sweep() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let asks = Draft { expect_reply: Some(Expectation::Required), ..keyed("ready?", "k1") };
        let sent = send(world, &membership, asks).await.item.id;
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        deliver(world, &part, "170.1").await;
        assert_eq!(world.store().sweep_outbox(world.act()).await.unwrap(), 0);
        world.pass_ms(5 * 86_400_000);
        for moved in [1, 0] {
            assert_eq!(world.store().sweep_outbox(world.act()).await.unwrap(), moved);
        }
        let (item, _, _) = world.store().outbox_item(sent).await.unwrap();
        assert_eq!(item.reply_state, ReplyState::Overdue);
        let notices = world.store().list_notices(query::Notices::default()).await.unwrap().items;
        assert_eq!(notices.iter().map(|n| n.kind.as_str()).collect::<Vec<_>>(), ["reply_overdue"]);
    });
}

#[test]
fn msg_196_a_pending_or_failed_send_closes_and_a_sending_one_stops_after_its_part() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let pending = send(world, &membership, keyed("a", "k1")).await.item.id;
        let item = world.store().cancel_outbox(world.act(), pending, Some("no".to_owned())).await.unwrap();
        assert_eq!((item.state, item.state_reason), (State::Cancelled, Some(OutboxReason::OwnerCancelled)));
        let two =
            Draft { text: "b c".to_owned(), chunks: vec!["b".to_owned(), "c".to_owned()], ..keyed("", "k2") };
        let sending = send(world, &membership, two).await.item.id;
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        world.store().cancel_outbox(world.act(), sending.clone(), None).await.unwrap();
        deliver(world, &part, "170.1").await;
        assert!(claim(world, fence).await.is_empty(), "the second chunk was cancelled");
        let (item, parts, _) = world.store().outbox_item(sending).await.unwrap();
        assert_eq!(
            parts.iter().map(|p| p.state).collect::<Vec<_>>(),
            [PartState::Sent, PartState::Cancelled]
        );
        assert!(item.partial);
    });
}

#[test]
fn msg_136_an_item_is_handled_once_its_reply_is_delivered_and_where_shows_the_path() {
    both(async |world: &World| {
        world.channel("C1").await;
        let id = world.queued("C1", "170.1").await;
        let agent = world.agent_fence().await;
        let claimed = world.claim(agent).await.unwrap();
        let end = World::answer("done");
        let finished =
            world.store().finish_turn(world.act(), claimed.turn.id.clone(), agent, end).await.unwrap();
        let reply = finished.outbox_id.unwrap();
        assert_eq!(world.state(&id).await, ItemState::AwaitingDelivery);
        assert_eq!(world.store().active_marks().await.unwrap()[0].message_id, "170.1");
        let fence = world.connection_fence().await;
        let part = claim(world, fence).await.remove(0);
        deliver(world, &part, "170.2").await;
        assert_eq!(world.state(&id).await, ItemState::Handled);
        for query in [
            reply.as_str(),
            id.as_str(),
            claimed.turn.id.as_str(),
            "slack:C1/170.1",
            "170.2",
            part.attempt.id.as_str(),
        ] {
            let path = world.store().where_is(Principal::Owner, query.to_owned()).await.unwrap();
            assert_eq!(path.verdict, "DELIVERED", "{query}");
            let layers: Vec<_> = path.steps.iter().map(|step| step.layer.as_str()).collect();
            for layer in ["event", "decision", "inbox", "turn", "outbox", "receipt"] {
                assert!(layers.contains(&layer), "{query}: {layer} in {layers:?}");
            }
        }
        let unknown =
            world.store().where_is(Principal::Owner, "slack:C1/999.9".to_owned()).await.unwrap_err();
        assert_eq!(unknown.code, Code::NeverSeen);
        assert_eq!(unknown.detail["connections"].as_array().unwrap().len(), 1);
        let known = world.store().known_conversations(world.connection_id()).await.unwrap();
        assert_eq!(known[0].newest_message_id.as_deref(), Some("170.1"));
        assert_eq!(known[0].read_at, None);
        let store = world.store();
        for at in [Timestamp(2_000), Timestamp(1_000)] {
            let connection = world.connection_id();
            store.conversation_read(world.act(), connection.clone(), "C1".to_owned(), at).await.unwrap();
            assert_eq!(store.known_conversations(connection).await.unwrap()[0].read_at, Some(at));
        }
        let sent = store.knows_message(world.connection_id(), "C1".to_owned(), "170.2".to_owned());
        assert!(sent.await.unwrap());
    });
}
