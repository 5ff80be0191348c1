//! PB-5: what a message costs does not grow with the number of stored ones.

use std::sync::Arc;
use std::time::Duration;

use loom_api::query;
use loom_domain::Principal;
use serde_json::json;
use tokio::time::Instant;

use super::sends::send_one;
use crate::floor::{Floor, SYNCS};
use crate::options::Options;
use crate::quantile::{median, ms};
use crate::report;
use crate::world::{START, World};

const SMALL: usize = 1_000;
const RATIO_MAX: f64 = 1.2;
/// Samples of each median.
const SAMPLES: usize = 101;
/// Differences below the clock's noise are none.
const NOISE: Duration = Duration::from_micros(50);

/// Medians at one size of the store.
struct Medians {
    accept: Duration,
    send: Duration,
    list: Duration,
    place: Duration,
}

/// Measures it.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let floor = Floor::measure(home.path(), SYNCS)?;
    let world = Arc::new(World::new(home.path(), options.seed).await?);
    world.fill(0, SMALL).await?;
    let small = medians(&world, SMALL).await?;
    let started = Instant::now();
    world.fill(SMALL + SAMPLES, options.messages).await?;
    let filled = crate::quantile::count(options.messages) / started.elapsed().as_secs_f64();
    let large = medians(&world, options.messages).await?;
    let parts = [
        ("accept", small.accept, large.accept),
        ("send", small.send, large.send),
        ("inbox_list", small.list, large.list),
        ("where", small.place, large.place),
    ];
    let flat = |(_, small, large): &(&str, Duration, Duration)| {
        large.saturating_sub(*small) <= NOISE || large.as_secs_f64() <= small.as_secs_f64() * RATIO_MAX
    };
    let told: Vec<String> = parts
        .iter()
        .map(|(name, small, large)| format!("{name} {:.2} -> {:.2} ms", ms(*small), ms(*large)))
        .collect();
    let words = format!(
        "medians at {SMALL} and {} stored messages: {} (ratio <= {RATIO_MAX})",
        options.messages,
        told.join(", ")
    );
    let mut values = json!({"messages": options.messages, "seed": options.seed, "filled_per_second": filled});
    if let Some(values) = values.as_object_mut() {
        for (name, small, large) in &parts {
            let ratio = large.as_secs_f64() / small.as_secs_f64();
            values.insert(
                (*name).to_owned(),
                json!({"small_ms": ms(*small), "large_ms": ms(*large), "ratio": ratio}),
            );
        }
    }
    report::figure("pb-5", &words, parts.iter().all(flat), &values, Some(floor));
    Ok(())
}

async fn medians(world: &Arc<World>, stored: usize) -> anyhow::Result<Medians> {
    let fence = world.fence().await?;
    let mut times: [Vec<Duration>; 4] = Default::default();
    let [accept, send, list, place] = &mut times;
    for n in stored..stored + SAMPLES {
        let started = Instant::now();
        let judged = world.record(vec![crate::world::event(n)]).await?;
        accept.push(started.elapsed());
        let item = judged.first().and_then(|one| one.item_id.clone());
        let item = item.ok_or_else(|| anyhow::anyhow!("event {n} made no item: {judged:?}"))?;
        let started = Instant::now();
        send_one(world, fence, n).await?;
        send.push(started.elapsed());
        let started = Instant::now();
        world.store.list_inbox(Principal::Owner, query::Inbox::default(), START).await?;
        list.push(started.elapsed());
        let started = Instant::now();
        world.store.where_is(Principal::Owner, item.to_string()).await?;
        place.push(started.elapsed());
    }
    Ok(Medians { accept: median(accept), send: median(send), list: median(list), place: median(place) })
}
