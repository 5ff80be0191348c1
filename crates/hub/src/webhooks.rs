//! Webhooks: endpoints, the deliveries that are due, and what comes in.

mod deliver;
mod endpoints;
mod receive;

use std::time::Duration;

use loom_domain::{Principal, Timestamp};
use loom_store::Topic;
use tokio::task::JoinSet;

use crate::hub::Hub;

pub use receive::{Hook, Taken};

/// Shortest and longest sleep between two looks.
const SLEEP_MIN: Duration = Duration::from_millis(50);
const SLEEP_MAX: Duration = Duration::from_secs(30);
/// Deliveries in flight at once.
const IN_FLIGHT_MAX: usize = 8;

/// What a look at the queue came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Nothing more is due.
    Empty,
    /// Nothing may be taken now: every place is full, the store failed, or the hub drains.
    Stuck,
}

/// Makes deliveries as they are due, until the hub stops.
pub(crate) async fn run(hub: Hub) {
    let mut wakes = hub.store().watch(Topic::Outbox);
    let mut flights = JoinSet::new();
    loop {
        let sleep = match take(&hub, &mut flights).await {
            Look::Empty => pause(Look::Empty, hub.store().next_delivery_at().await.ok().flatten(), hub.now()),
            Look::Stuck => pause(Look::Stuck, None, hub.now()),
        };
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            _ = flights.join_next(), if !flights.is_empty() => {}
            () = tokio::time::sleep(sleep) => {}
            changed = wakes.changed() => if changed.is_err() { return },
        }
    }
}

/// Takes what is due while there is a place for it.
async fn take(hub: &Hub, flights: &mut JoinSet<()>) -> Look {
    while flights.len() < IN_FLIGHT_MAX && !hub.inner.drain.is_cancelled() {
        match hub.store().take_delivery(hub.act(Principal::Hub)).await {
            Ok(Some((delivery, endpoint))) => {
                let hub = hub.clone();
                flights.spawn(async move { hub.deliver(delivery, endpoint).await });
            }
            Ok(None) => return Look::Empty,
            Err(error) => {
                tracing::warn!("deliveries of webhooks cannot be taken: {error}");
                return Look::Stuck;
            }
        }
    }
    Look::Stuck
}

/// Time until the next look. Where nothing may be taken, that something is due is no reason for one: the end of a
/// flight or a wake is.
fn pause(look: Look, due: Option<Timestamp>, now: Timestamp) -> Duration {
    match (look, due) {
        (Look::Empty, Some(due)) => {
            let ms = u64::try_from(due.since_ms(now)).unwrap_or(0);
            Duration::from_millis(ms).clamp(SLEEP_MIN, SLEEP_MAX)
        }
        (Look::Empty, None) | (Look::Stuck, _) => SLEEP_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While every place is full, or after an error, what is due does not make the loop spin.
    #[test]
    fn only_an_empty_look_waits_for_what_is_due() {
        let now = Timestamp(1_000_000);
        for due in [None, Some(now.plus_ms(-5)), Some(now.plus_ms(5_000))] {
            assert_eq!(pause(Look::Stuck, due, now), SLEEP_MAX, "{due:?}");
        }
        for (due, sleep) in [(-5, SLEEP_MIN), (5_000, Duration::from_secs(5)), (90_000, SLEEP_MAX)] {
            assert_eq!(pause(Look::Empty, Some(now.plus_ms(due)), now), sleep, "{due}");
        }
        assert_eq!(pause(Look::Empty, None, now), SLEEP_MAX);
    }
}
