//! PB-8: from `loom up` to a hub that says it is ready.

use std::time::Duration;

use serde_json::json;

use crate::floor::{Floor, SYNCS};
use crate::hub::Hub;
use crate::options::Options;
use crate::quantile::{median, ms};
use crate::report;
use crate::world::World;

const CONNECTIONS: usize = 20;
const BOUND: Duration = Duration::from_millis(50);
/// With a million messages.
const BOUND_LARGE: Duration = Duration::from_millis(200);
const LARGE: usize = 1_000_000;

/// Measures it with a filled store.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let mut hub = Hub::new(CONNECTIONS).await?;
    let floor = Floor::measure(&hub.home(), SYNCS)?;
    let world = World::new(&hub.home(), options.seed).await?;
    world.fill(0, options.messages).await?;
    tokio::task::spawn_blocking(move || drop(world)).await?;
    hub.up().await?;
    hub.connect_all().await?;
    let (mut times, mut ready) = (Vec::new(), true);
    for _ in 0..options.runs {
        hub.down()?;
        let (time, is_ready) = hub.up().await?;
        times.push(time);
        ready &= is_ready;
    }
    hub.down()?;
    let bound = if options.messages >= LARGE { BOUND_LARGE } else { BOUND };
    let middle = median(&times);
    let words = format!(
        "ready {:.0} ms after `loom up`, {CONNECTIONS} Connections, {} messages (< {:.0} ms)",
        ms(middle),
        options.messages,
        ms(bound)
    );
    let all: Vec<f64> = times.iter().map(|time| ms(*time)).collect();
    let values = json!({
        "messages": options.messages, "connections": CONNECTIONS, "seed": options.seed, "median_ms": ms(middle),
        "runs_ms": all, "ready": ready, "bound_ms": ms(bound),
    });
    report::figure("pb-8", &words, ready && middle < bound, &values, Some(floor));
    Ok(())
}
