//! PB-1: 200 events a second, each until it is committed. The floor is the disk at the same pace.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::floor::{Floor, SYNCS};
use crate::options::Options;
use crate::quantile::{median, ms, quantile};
use crate::report;
use crate::world::World;

const EVENTS_PER_SECOND: u32 = 200;
/// Connections, each with an Agent of its own: nobody answers here, and an Agent holds 10,000 open items.
const CONNECTIONS: usize = 10;
const LEAST: Duration = Duration::from_millis(5);

/// Measures it.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let restless = Floor::measure(home.path(), SYNCS)?;
    let floor = Floor::paced(home.path(), SYNCS / 2, gap())?;
    let world = Arc::new(World::new(home.path(), options.seed).await?);
    let events = usize::try_from(options.seconds * u64::from(EVENTS_PER_SECOND))?;
    let times = steady(&world, events).await?;
    let bound = LEAST.max(floor.p99 * 2);
    let (p50, p99) = (median(&times), quantile(&times, 0.99));
    let values = json!({
        "events": events, "per_second": EVENTS_PER_SECOND, "seed": options.seed,
        "restless_sync_p99_ms": ms(restless.p99), "p50_ms": ms(p50), "p99_ms": ms(p99), "bound_p99_ms": ms(bound), "p99_of_floor": ms(p99) / ms(floor.p99),
    });
    let words = format!(
        "accept p50 {:.2} ms, p99 {:.2} ms at {EVENTS_PER_SECOND}/s for {} s (p99 <= {:.2} ms)",
        ms(p50),
        ms(p99),
        options.seconds,
        ms(bound)
    );
    report::figure("pb-1", &words, p99 <= bound && times.len() == events, &values, Some(floor));
    Ok(())
}

/// Time from one event to the next.
fn gap() -> Duration {
    Duration::from_secs(1) / EVENTS_PER_SECOND
}

/// Offers events at their times, whether or not earlier ones are done.
async fn steady(world: &Arc<World>, events: usize) -> anyhow::Result<Vec<Duration>> {
    let mut connections = vec![world.connection.clone()];
    for n in 1..CONNECTIONS {
        connections.push(world.another(n).await?);
    }
    let mut clock = tokio::time::interval(gap());
    let mut running = JoinSet::new();
    for (n, connection) in connections.into_iter().cycle().take(events).enumerate() {
        let due = clock.tick().await;
        let world = world.clone();
        running.spawn(async move {
            world.record_on(&connection, vec![crate::world::event(n)]).await?;
            anyhow::Ok(Instant::now() - due)
        });
    }
    let mut times = Vec::with_capacity(events);
    while let Some(one) = running.join_next().await {
        times.push(one??);
    }
    Ok(times)
}
