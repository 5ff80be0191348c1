//! What a message and its answer cost does not depend on what is stored. SQLite counts its own steps.

use loom_domain::{
    MembershipId, Receipt,
    outbox::{PartEvent, PartState, Step, Via},
};

use super::world::World;
use crate::ops::outbox::{Draft, To};

/// Rounds that fill the store.
const ROUNDS: usize = 300;
/// Trees grow a level or two; nothing else may.
const MOST: f64 = 1.25;

/// A message comes in, is handled in a Turn, and is answered; then the Agent says something of itself.
async fn round(world: &World, channel: &MembershipId, n: usize) {
    let store = world.store();
    world.pass_ms(3_600_000);
    world.queued("C1", &format!("17{n:08}.1")).await;
    let fence = world.agent_fence().await;
    let turn = world.claim(fence).await.unwrap().turn.id;
    store.turn_accepted(world.act(), turn.clone(), fence, None).await.unwrap();
    store.finish_turn(world.act(), turn, fence, World::answer("done")).await.unwrap();
    deliver(world, format!("18{n:08}.1")).await;
    let to = To::Membership { membership: channel.clone(), from: world.agent_id(), target_belongs: None };
    let draft = Draft {
        text: "look".to_owned(),
        chunks: vec!["look".to_owned()],
        idempotency_key: Some(format!("k{n}")),
        ..Draft::default()
    };
    store.send(world.act(), to, draft).await.unwrap();
    deliver(world, format!("18{n:08}.2")).await;
}

/// Sends the one Part that waits.
async fn deliver(world: &World, id: String) {
    let store = world.store();
    let fence = world.connection_fence().await;
    let mut parts = store.claim_parts(world.act(), world.connection_id(), 10, vec![], fence).await.unwrap();
    let part = parts.remove(0);
    let (attempt, fence) = (part.attempt.id.clone(), part.attempt.fence);
    store.step_part(world.act(), attempt.clone(), fence, Step::Publish, None).await.unwrap();
    let receipt = Receipt {
        kind: part.part.kind,
        external_message_id: Some(id),
        external_file_id: None,
        external_thread_id: None,
        permalink: None,
        artifact_id: None,
        provider_time: None,
        attempt_id: Some(attempt.clone()),
        via: Via::Response,
        recorded_at: world.now(),
    };
    let sent = store.finish_part(world.act(), attempt, fence, PartEvent::Accepted(receipt)).await.unwrap();
    assert_eq!(sent.state, PartState::Sent);
}

/// Steps of SQLite in one round.
async fn cost(world: &World, channel: &MembershipId, n: usize) -> u64 {
    let steps =
        async || world.store().write(world.act(), |_| Ok(crate::engine::sqlite::steps())).await.unwrap();
    let before = steps().await;
    round(world, channel, n).await;
    steps().await - before
}

#[test]
fn pb_5_a_message_and_its_answer_cost_the_same_in_a_full_store() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = World::sqlite();
    runtime.block_on(async {
        world.furnish().await;
        let channel = world.channel("C1").await;
        round(&world, &channel, 0).await;
        let empty = cost(&world, &channel, 1).await;
        for n in 2..ROUNDS {
            round(&world, &channel, n).await;
        }
        let full = cost(&world, &channel, ROUNDS).await;
        assert!(empty > 100, "nothing was counted: {empty}");
        let ratio = f64::from(u32::try_from(full).unwrap()) / f64::from(u32::try_from(empty).unwrap());
        assert!(ratio <= MOST, "{empty} steps in an empty store, {full} after {ROUNDS} rounds");
    });
}
