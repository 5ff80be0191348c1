//! Claims, fairness, frozen policy, leases and fences.

use loom_api::{
    query,
    request::{AddressPolicy, Defer, EnableMembership, NoReply, UpdateAddress},
};
use loom_domain::{
    AgentId, Code, Principal, ReplyPolicy,
    inbox::{Outcome, State},
    reason::ItemReason,
};

use super::{both, world::World};

#[test]
fn msg_130_a_dm_is_served_within_two_turns_and_the_group_stays_fifo() {
    both(async |world: &World| {
        world.channel("C1").await;
        let mut group = Vec::new();
        for n in 0..40 {
            group.push(world.queued("C1", &format!("170.{n:03}")).await);
        }
        let membership = world.dm_draft("D1", "U0ANN").await;
        world
            .store()
            .enable_membership(world.act(), membership, EnableMembership::default(), false)
            .await
            .unwrap();
        let dm = world.take(world.dm("EvD", "D1", "171.1")).await.item_id.unwrap();
        let fence = world.agent_fence().await;
        let mut served = Vec::new();
        for _ in 0..5 {
            let claimed = world.claim(fence).await.unwrap();
            served.push(claimed.item.id.clone());
            world.store().turn_accepted(world.act(), claimed.turn.id.clone(), fence, None).await.unwrap();
            world
                .store()
                .finish_turn(world.act(), claimed.turn.id, fence, World::answer("ok"))
                .await
                .unwrap();
        }
        assert!(served[..2].contains(&dm), "{served:?}");
        served.retain(|id| *id != dm);
        assert_eq!(served, group[..4]);
    });
}

#[test]
fn msg_131_one_turn_at_a_time_and_an_old_fence_changes_nothing() {
    both(async |world: &World| {
        world.channel("C1").await;
        world.queued("C1", "170.1").await;
        world.queued("C1", "170.2").await;
        let name = format!("agent:{}", world.agent_id());
        let old = world.agent_fence().await;
        let claimed = world.claim(old).await.unwrap();
        assert!(world.claim(old).await.is_none(), "a second Turn beside the first");

        let new = world.lease(name.clone()).await;
        assert_eq!(new, old + 1);
        let lost =
            world.store().finish_turn(world.act(), claimed.turn.id.clone(), old, World::answer("late")).await;
        assert_eq!(lost.unwrap_err().code, Code::LeaseLost);
        let lost = world.store().claim_turn(world.act(), world.claim_of(old)).await;
        assert_eq!(lost.unwrap_err().code, Code::LeaseLost);
        assert_eq!((world.state(&claimed.item.id).await, world.count("outbox").await), (State::Handling, 0));
        world.store().finish_turn(world.act(), claimed.turn.id, new, World::answer("good")).await.unwrap();
        assert_eq!(world.count("outbox").await, 1);

        if world.is_postgres() {
            two_nodes(world, &name, new).await;
        }
    });
}

async fn two_nodes(world: &World, name: &str, fence: u64) {
    let other = world.other_node().await;
    let held = other.lease(world.act(), name.to_owned(), 30_000, None).await.unwrap_err();
    assert_eq!((held.code, held.detail["holder"].as_str()), (Code::Locked, Some("n1")));
    world.store().release_lease(world.act(), name.to_owned(), fence).await.unwrap();
    let taken = other.lease(world.act(), name.to_owned(), 30_000, None).await.unwrap();
    assert_eq!(taken.fence, fence + 1);
    let mut tries = tokio::task::JoinSet::new();
    for store in [world.store(), other.clone()] {
        for fence in [fence, taken.fence] {
            let (store, act, claim) = (store.clone(), world.act(), world.claim_of(fence));
            tries.spawn(async move { store.claim_turn(act, claim).await.ok().flatten() });
        }
    }
    let started = tries.join_all().await.into_iter().flatten().count();
    assert_eq!(started, 1, "two Turns of one Agent overlap");
    other.set_agent_paused(world.act(), "docs".to_owned(), true, None, false).await.unwrap();
    assert_eq!(world.store().verify_audit().await.unwrap().nodes, 2, "a chain for each node");
    tokio::task::spawn_blocking(move || drop(other)).await.unwrap();
}

#[test]
fn msg_137_a_membership_switched_off_in_the_turn_keeps_the_answer() {
    both(async |world: &World| {
        let membership = world.channel("C1").await;
        let id = world.queued("C1", "170.1").await;
        let fence = world.agent_fence().await;
        let claimed = world.claim(fence).await.unwrap();
        world.store().disable_membership(world.act(), membership.clone(), None, false).await.unwrap();
        world.store().finish_turn(world.act(), claimed.turn.id, fence, World::answer("kept")).await.unwrap();
        let detail = world.store().inbox_detail(Principal::Owner, id.to_string()).await.unwrap();
        assert_eq!(detail.entry.item.state, State::NeedsDecision);
        assert_eq!(detail.entry.item.state_reason, Some(ItemReason::ReplyBlocked));
        assert_eq!(detail.attempts[0].answer.as_deref(), Some("kept"));
        let refusal = detail.attempts[0].error.as_ref().map(|error| error.class.as_str());
        assert_eq!(refusal, Some(Code::Disabled.as_str()), "the owner sees why it was not sent");
        world
            .store()
            .enable_membership(world.act(), membership, EnableMembership::default(), false)
            .await
            .unwrap();
        let store = world.store();
        let sent =
            store.send(world.act(), crate::ops::outbox::To::Item(id.clone()), super::sends::draft("kept"));
        assert!(!sent.await.unwrap().duplicate);
        assert_eq!(world.state(&id).await, State::AwaitingDelivery);
    });
}

#[test]
fn msg_138_the_reply_policy_of_the_claim_decides() {
    both(async |world: &World| {
        world.channel("C1").await;
        let id = world.queued("C1", "170.1").await;
        let fence = world.agent_fence().await;
        let claimed = world.claim(fence).await.unwrap();
        let policy = AddressPolicy { reply_policy: Some(ReplyPolicy::None), ..AddressPolicy::default() };
        let request = UpdateAddress { policy, ..UpdateAddress::default() };
        world.store().update_address(world.act(), world.address_id(), request, vec![], false).await.unwrap();
        world.store().finish_turn(world.act(), claimed.turn.id, fence, World::answer("sent")).await.unwrap();
        assert_eq!((world.state(&id).await, world.count("outbox").await), (State::AwaitingDelivery, 1));
    });
}

#[test]
fn msg_139_a_sender_blocked_after_queueing_is_cancelled_at_claim() {
    both(async |world: &World| {
        world.channel("C1").await;
        let id = world.queued("C1", "170.1").await;
        let policy =
            AddressPolicy { block_actors: Some(vec!["U0ANN".to_owned()]), ..AddressPolicy::default() };
        let request = UpdateAddress { policy, ..UpdateAddress::default() };
        world.store().update_address(world.act(), world.address_id(), request, vec![], false).await.unwrap();
        let fence = world.agent_fence().await;
        assert!(world.claim(fence).await.is_none());
        let item = world.store().inbox_item(id).await.unwrap();
        assert_eq!((item.state, item.state_reason), (State::Cancelled, Some(ItemReason::PolicyDenied)));
    });
}

#[test]
fn msg_140_a_deferred_item_returns_at_its_place_and_blocks_nobody() {
    both(async |world: &World| {
        world.channel("C1").await;
        let first = world.queued("C1", "170.1").await;
        let second = world.queued("C1", "170.2").await;
        let seq = world.store().inbox_item(first.clone()).await.unwrap().seq;
        let past = Defer { until: Some(world.now().plus_ms(-1)), ..Defer::default() };
        let error = world.store().defer(world.act(), first.clone(), past).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidTime);
        let later = Defer { for_seconds: Some(60), ..Defer::default() };
        world.store().defer(world.act(), first.clone(), later).await.unwrap();
        let fence = world.agent_fence().await;
        let claimed = world.claim(fence).await.unwrap();
        assert_eq!(claimed.item.id, second);
        world.store().finish_turn(world.act(), claimed.turn.id, fence, World::answer("ok")).await.unwrap();
        world.pass_ms(61_000);
        world.store().sweep_inbox(world.act(), i64::MAX / 4).await.unwrap();
        let back = world.store().inbox_item(first.clone()).await.unwrap();
        assert_eq!((back.state, back.seq), (State::Queued, seq));
        let fence = world.agent_fence().await;
        assert_eq!(world.claim(fence).await.unwrap().item.id, first);
    });
}

#[test]
fn msg_147_another_agent_decides_nothing() {
    both(async |world: &World| {
        world.channel("C1").await;
        let id = world.queued("C1", "170.1").await;
        let stranger: AgentId = world.agent("other").await.id;
        let act = world.act_as(Principal::Agent(stranger.clone()));
        let error = world.store().no_reply(act, id.clone(), NoReply::default()).await.unwrap_err();
        assert_eq!(error.code, Code::NotOwnerOfItem);
        let seen = world.store().inbox_detail(Principal::Agent(stranger), id.to_string()).await.unwrap_err();
        assert_eq!(seen.code, Code::Forbidden);
        let own = world.act_as(Principal::Agent(world.agent_id()));
        let item = world.store().no_reply(own, id, NoReply::default()).await.unwrap();
        assert_eq!((item.state, item.outcome), (State::Handled, Some(Outcome::NoReply)));
    });
}

#[test]
fn msg_236_order_follows_the_commits_when_the_clock_moves_back() {
    both(async |world: &World| {
        world.channel("C1").await;
        let first = world.queued("C1", "170.1").await;
        world.pass_ms(-3_600_000);
        let second = world.queued("C1", "170.2").await;
        let fence = world.agent_fence().await;
        assert_eq!(world.claim(fence).await.unwrap().item.id, first);
        let page =
            world.store().list_inbox(Principal::Owner, query::Inbox::default(), world.now()).await.unwrap();
        let ids: Vec<_> = page.items.iter().map(|entry| entry.item.id.clone()).collect();
        assert_eq!(ids, [second, first]);
    });
}
