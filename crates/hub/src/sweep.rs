//! What time does: queues, approvals and sends that end, what is due, what is old, and what the owner should know.

mod disk;
mod notices;
mod orphans;
pub(crate) mod retain;

use std::time::Duration;

use loom_domain::Principal;
use loom_store::Topic;

use crate::hub::Hub;

const EVERY: Duration = Duration::from_secs(2);
/// Sweeps between two looks at what the owner should know.
const NOTICES_EVERY: u32 = 5;
/// Sweeps between two rounds of retention.
const RETENTION_EVERY: u32 = 1_800;

pub(crate) use notices::Teller;

/// Sweeps until the hub stops.
pub(crate) async fn run(hub: Hub) {
    let mut round: u32 = 0;
    let mut teller = Teller::default();
    let mut orphans = orphans::Orphans::default();
    let mut wakes = hub.store().watch(Topic::Config);
    let mut health = hub.store().health();
    retain::orphans(&hub).await;
    if let Err(error) = hub.recover_gates().await {
        tracing::warn!("attempts of gated writes cannot be looked at: {error}");
    }
    loop {
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
            changed = wakes.changed() => if changed.is_err() { return },
            changed = health.changed() => if changed.is_err() { return },
        }
        round = round.wrapping_add(1);
        let fault = health.borrow_and_update().fault.clone();
        disk::tend_reserve(&hub, fault.as_deref()).await;
        once(&hub).await;
        if round.is_multiple_of(NOTICES_EVERY) {
            teller.look(&hub).await;
        }
        orphans.collect();
        if round % RETENTION_EVERY == 1 {
            retain::run(&hub).await;
        }
    }
}

/// Ends and releases what is due.
pub(crate) async fn once(hub: &Hub) {
    let age_ms = hub.config().inbox.max_queue_age_s.saturating_mul(1_000);
    if let Err(error) = hub.store().sweep_inbox(hub.act(Principal::Hub), age_ms).await {
        tracing::warn!("the inbox cannot be swept: {error}");
    }
    if let Err(error) = hub.store().sweep_outbox(hub.act(Principal::Hub)).await {
        tracing::warn!("the outbox cannot be swept: {error}");
    }
    if let Err(error) = hub.sweep_gates().await {
        tracing::warn!("gates cannot be swept: {error}");
    }
}
