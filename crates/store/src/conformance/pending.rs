//! Senders who wait for approval.

use loom_api::request::{Cancel, Defer, EnableMembership, NoReply, Retry};
use loom_domain::{
    Code, InboundEvent,
    inbox::State,
    message::Decision,
    reason::{EventReason, ItemReason},
};

use super::{both, world::World};

fn from(mut event: InboundEvent, actor: &str) -> InboundEvent {
    actor.clone_into(&mut event.sender.as_mut().unwrap().external_id);
    event
}

#[test]
fn msg_085_an_unknown_sender_waits_without_a_turn() {
    both(async |world: &World| {
        let judged = world.take(world.dm("Ev1", "D1", "170.1")).await;
        assert_eq!((judged.decision, judged.reason), (Decision::Pending, EventReason::AccessPending));
        let fence = world.agent_fence().await;
        assert!(world.claim(fence).await.is_none());
        assert_eq!(world.count("outbox").await, 0);
    });
}

#[test]
fn msg_086_approval_queues_what_waited_in_order() {
    both(async |world: &World| {
        let mut waiting = Vec::new();
        for n in 0..3 {
            let judged = world.take(world.dm(&format!("Ev{n}"), "D1", &format!("170.{n}"))).await;
            waiting.push(judged.item_id.unwrap());
        }
        let seqs_before = seqs(world, &waiting).await;
        let membership = world.dm_draft("D1", "U0ANN").await;
        let kept = EnableMembership { keep_pending: true, ..EnableMembership::default() };
        let plan =
            world.store().enable_membership(world.act(), membership.clone(), kept, true).await.unwrap();
        assert!(plan.dry_run && plan.object.enabled);
        assert!(
            !world.store().membership(membership.clone()).await.unwrap().enabled,
            "a dry run writes nothing"
        );
        let enabled = world
            .store()
            .enable_membership(world.act(), membership, EnableMembership::default(), false)
            .await
            .unwrap();
        for id in &waiting {
            assert!(enabled.warnings.contains(&format!("{id} pending_access → queued")));
            assert_eq!(world.state(id).await, State::Queued);
        }
        assert_eq!(seqs(world, &waiting).await, seqs_before, "each keeps its place");
        assert_eq!(enabled.object.enabled_by.as_deref(), Some("owner"));
        let other = world.take(from(world.dm("Ev9", "D1", "170.9"), "U0BOB")).await;
        assert_eq!(other.reason, EventReason::ActorMismatch);
    });
}

async fn seqs(world: &World, ids: &[loom_domain::InboxId]) -> Vec<u64> {
    let mut seqs = Vec::new();
    for id in ids {
        seqs.push(world.store().inbox_item(id.clone()).await.unwrap().seq);
    }
    seqs
}

#[test]
fn msg_087_a_draft_leaves_senders_pending_and_a_pause_refuses() {
    both(async |world: &World| {
        let first = world.take(world.dm("Ev1", "D1", "170.1")).await.item_id.unwrap();
        let membership = world.dm_draft("D1", "U0ANN").await;
        assert_eq!(world.take(world.dm("Ev2", "D1", "170.2")).await.decision, Decision::Pending);
        let refused =
            world.store().retry_item(world.act(), first.clone(), Retry::default()).await.unwrap_err();
        assert_eq!(refused.code, Code::MembershipRequired);
        assert_eq!(world.state(&first).await, State::PendingAccess);
        let store = world.store();
        store
            .enable_membership(world.act(), membership.clone(), EnableMembership::default(), false)
            .await
            .unwrap();
        store.disable_membership(world.act(), membership, None, false).await.unwrap();
        assert_eq!(world.take(world.dm("Ev3", "D1", "170.3")).await.reason, EventReason::MembershipDisabled);
    });
}

#[test]
fn msg_095_caps_are_silent_and_a_denied_sender_stays_out() {
    both(async |world: &World| {
        let mut last = None;
        for n in 0..4 {
            let judged = world.take(world.dm(&format!("Ev{n}"), "D1", &format!("170.{n}"))).await;
            let want = if n < 3 { EventReason::AccessPending } else { EventReason::PendingLimit };
            assert_eq!(judged.reason, want);
            last = judged.item_id.or(last);
        }
        for n in 0..50 {
            let actor = format!("U0S{n}");
            let judged =
                world.take(from(world.dm(&format!("EvS{n}"), &format!("D9{n}"), "1.1"), &actor)).await;
            let want = if n < 49 { EventReason::AccessPending } else { EventReason::PendingLimit };
            assert_eq!(judged.reason, want, "sender {n}");
        }
        let request = Cancel { block: true, ..Cancel::default() };
        let item = world.store().cancel_item(world.act(), last.unwrap(), request).await.unwrap();
        assert_eq!((item.state, item.state_reason), (State::Cancelled, Some(ItemReason::AccessDenied)));
        assert_eq!(world.take(world.dm("Ev9", "D1", "170.9")).await.reason, EventReason::ActorBlocked);
        assert_eq!(world.count("outbox").await, 0);
    });
}

#[test]
fn msg_096_a_pending_item_takes_no_decision_and_expires_after_a_week() {
    both(async |world: &World| {
        let id = world.take(world.dm("Ev1", "D1", "170.1")).await.item_id.unwrap();
        let store = world.store();
        let defer = Defer { for_seconds: Some(60), ..Defer::default() };
        let errors = [
            store.no_reply(world.act(), id.clone(), NoReply::default()).await.unwrap_err().code,
            store.defer(world.act(), id.clone(), defer).await.unwrap_err().code,
            store
                .send(world.act(), crate::ops::outbox::To::Item(id.clone()), super::sends::draft("x"))
                .await
                .unwrap_err()
                .code,
        ];
        assert_eq!(errors, [Code::AccessPending; 3]);
        world.pass_ms(7 * 86_400_000 + 1);
        store.sweep_inbox(world.act(), loom_domain::inbox::limits::QUEUE_AGE_MS_MAX).await.unwrap();
        let item = store.inbox_item(id).await.unwrap();
        assert_eq!((item.state, item.state_reason), (State::Expired, Some(ItemReason::AccessExpired)));
    });
}
