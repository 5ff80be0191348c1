//! Webhooks: endpoints, the deliveries that are due, and what comes in.

mod deliver;
mod endpoints;
mod receive;

use std::time::Duration;

use loom_store::Topic;

use crate::hub::Hub;

pub use receive::{Hook, Taken};

/// Longest sleep between two looks.
const SLEEP_MAX: Duration = Duration::from_secs(30);
/// Deliveries in flight at once.
const IN_FLIGHT_MAX: usize = 8;

/// Makes deliveries as they are due, until the hub stops.
pub(crate) async fn run(hub: Hub) {
    let mut wakes = hub.store().watch(Topic::Outbox);
    let mut flights = tokio::task::JoinSet::new();
    loop {
        while flights.len() < IN_FLIGHT_MAX && !hub.inner.drain.is_cancelled() {
            match hub.store().take_delivery(hub.act(loom_domain::Principal::Hub)).await {
                Ok(Some((delivery, endpoint))) => {
                    let hub = hub.clone();
                    flights.spawn(async move { hub.deliver(delivery, endpoint).await });
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("deliveries of webhooks cannot be taken: {error}");
                    break;
                }
            }
        }
        let sleep = wait(&hub).await;
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            _ = flights.join_next(), if !flights.is_empty() => {}
            () = tokio::time::sleep(sleep) => {}
            changed = wakes.changed() => if changed.is_err() { return },
        }
    }
}

/// Time until the next delivery is due.
async fn wait(hub: &Hub) -> Duration {
    let due = hub.store().next_delivery_at().await.ok().flatten();
    let ms = due.map_or(i64::MAX, |due| due.since_ms(hub.now()));
    Duration::from_millis(u64::try_from(ms).unwrap_or(0).max(50)).min(SLEEP_MAX)
}
