//! PB-3 and PB-4: sends from the Outbox to a provider that accepts at once.

use std::sync::Arc;
use std::time::Duration;

use loom_domain::Receipt;
use loom_domain::outbox::{PartEvent, Step, Via};
use loom_store::ops::outbox::{ClaimedPart, Draft, Sent, To};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::floor::{Floor, SYNCS};
use crate::options::Options;
use crate::quantile::count;
use crate::report;
use crate::world::{START, World};

const IN_FLIGHT: usize = 64;
/// Callers that fill the Outbox at once.
const FILLERS: usize = 256;
/// Sends that are open at once: an Agent may have a thousand.
const WAVE: usize = 900;
const RATE_MIN: f64 = 2_000.0;
const OF_FLOOR_MIN: f64 = 4.0;
const SERIAL_OF_FLOOR_MIN: f64 = 0.4;
/// Serial sends are this part of the items.
const SERIAL_SHARE: usize = 20;

/// PB-3: 64 sends in flight.
pub(crate) async fn in_flight(options: &Options) -> anyhow::Result<()> {
    let (floor, rate, filled) = drained(options, options.items, IN_FLIGHT).await?;
    let bound = RATE_MIN.min(OF_FLOOR_MIN * floor.rate);
    let words =
        format!("{rate:.0} durable sends/s, {IN_FLIGHT} in flight, {} items (>= {bound:.0})", options.items);
    let values = json!({
        "items": options.items, "in_flight": IN_FLIGHT, "seed": options.seed, "sends_per_second": rate,
        "admitted_per_second": filled, "bound_per_second": bound, "of_floor": rate / floor.rate,
    });
    report::figure("pb-3", &words, rate >= bound, &values, Some(floor));
    Ok(())
}

/// PB-4: one send after the other.
pub(crate) async fn serial(options: &Options) -> anyhow::Result<()> {
    let items = options.items / SERIAL_SHARE;
    let (floor, rate, _) = drained(options, items, 1).await?;
    let bound = SERIAL_OF_FLOOR_MIN * floor.rate;
    let words = format!("{rate:.0} durable sends/s one by one, {items} items (>= {bound:.0})");
    let values = json!({
        "items": items, "in_flight": 1, "seed": options.seed, "sends_per_second": rate,
        "bound_per_second": bound, "of_floor": rate / floor.rate,
    });
    report::figure("pb-4", &words, rate >= bound, &values, Some(floor));
    Ok(())
}

/// Fills an Outbox, sends everything, and gives the disk's speed, sends and admissions a second.
async fn drained(options: &Options, items: usize, in_flight: usize) -> anyhow::Result<(Floor, f64, f64)> {
    let home = tempfile::tempdir()?;
    let floor = Floor::measure(home.path(), SYNCS)?;
    let world = Arc::new(World::new(home.path(), options.seed).await?);
    let fence = world.fence().await?;
    let (mut filling, mut sending, mut at) = (Duration::ZERO, Duration::ZERO, 0);
    while at < items {
        let next = (at + WAVE).min(items);
        let started = Instant::now();
        fill(&world, at, next).await?;
        filling += started.elapsed();
        let started = Instant::now();
        drain(&world, fence, next - at, in_flight).await?;
        sending += started.elapsed();
        at = next;
    }
    Ok((floor, per_second(items, sending), per_second(items, filling)))
}

fn per_second(items: usize, span: Duration) -> f64 {
    count(items) / span.as_secs_f64()
}

async fn fill(world: &Arc<World>, from: usize, to: usize) -> anyhow::Result<()> {
    let mut running = JoinSet::new();
    for n in from..to {
        if running.len() >= FILLERS
            && let Some(one) = running.join_next().await
        {
            one??;
        }
        let world = world.clone();
        running.spawn(async move { admit(&world, n).await.map(drop) });
    }
    while let Some(one) = running.join_next().await {
        one??;
    }
    Ok(())
}

/// Admits one send into the channel that is next.
pub(super) async fn admit(world: &World, n: usize) -> anyhow::Result<Sent> {
    let text = format!("Build {n} is green again.");
    let channel =
        world.channels.get(n % world.channels.len()).ok_or_else(|| anyhow::anyhow!("no channel"))?;
    let to = To::Membership { membership: channel.clone(), from: world.agent.clone(), target_belongs: None };
    let draft = Draft {
        chunks: vec![text.clone()],
        text,
        idempotency_key: Some(format!("bench-{n}")),
        ..Draft::default()
    };
    Ok(world.store.send(world.act(), to, draft).await?)
}

async fn drain(world: &Arc<World>, fence: u64, items: usize, in_flight: usize) -> anyhow::Result<()> {
    let (mut running, mut busy, mut done) = (JoinSet::new(), Vec::new(), 0);
    while done < items {
        let free = u32::try_from(in_flight - running.len())?;
        if free > 0 {
            let parts = world.store.claim_parts(
                world.act(),
                world.connection.clone(),
                free,
                Vec::clone(&busy),
                fence,
            );
            let parts = parts.await?;
            anyhow::ensure!(
                !parts.is_empty() || !running.is_empty(),
                "{done} of {items} sends could be claimed"
            );
            for part in parts {
                let conversation = part.item.conversation.conversation_id.clone();
                busy.push(conversation.clone());
                let world = world.clone();
                running.spawn(async move { deliver(&world, &part, fence).await.map(|()| conversation) });
            }
        }
        // Whoever has ended by now makes room at once.
        let mut ended = running.join_next().await;
        while let Some(one) = ended {
            let conversation = one??;
            busy.retain(|other| *other != conversation);
            done += 1;
            ended = running.try_join_next();
        }
    }
    Ok(())
}

/// What a courier does with a Part when the provider accepts it at once.
async fn deliver(world: &World, claimed: &ClaimedPart, fence: u64) -> anyhow::Result<()> {
    let attempt = claimed.attempt.id.clone();
    world.store.step_part(world.act(), attempt.clone(), fence, Step::Publish, None).await?;
    let receipt = Receipt {
        kind: claimed.part.kind,
        external_message_id: Some(format!("18.{}", claimed.part.seq)),
        external_file_id: None,
        external_thread_id: None,
        permalink: None,
        artifact_id: None,
        provider_time: None,
        attempt_id: Some(attempt.clone()),
        via: Via::Response,
        recorded_at: START,
    };
    world.store.finish_part(world.act(), attempt, fence, PartEvent::Accepted(receipt)).await?;
    Ok(())
}

/// Sends one item from its admission to its receipt.
pub(super) async fn send_one(world: &Arc<World>, fence: u64, n: usize) -> anyhow::Result<()> {
    admit(world, n).await?;
    drain(world, fence, 1, 1).await
}
