//! What time does: queues, approvals and sends that end, what is due, what is old, and what the owner should know.

use std::time::Duration;

use loom_domain::{Principal, connection::ConnectionState};
use loom_store::Topic;

use crate::hub::Hub;

const EVERY: Duration = Duration::from_secs(2);
/// Sweeps between two looks at what the owner should know.
const NOTICES_EVERY: u32 = 5;
/// Sweeps between two rounds of retention.
const RETENTION_EVERY: u32 = 1_800;
const DOWN_MS: i64 = 120_000;

/// Sweeps until the hub stops.
pub(crate) async fn run(hub: Hub) {
    let mut round: u32 = 0;
    let mut wakes = hub.store().watch(Topic::Config);
    loop {
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
            changed = wakes.changed() => if changed.is_err() { return },
        }
        round = round.wrapping_add(1);
        once(&hub).await;
        if round % NOTICES_EVERY == 0 {
            tell_owner(&hub).await;
        }
        if round % RETENTION_EVERY == 1 {
            retain(&hub).await;
        }
    }
}

async fn once(hub: &Hub) {
    let age_ms = hub.config().inbox.max_queue_age_s.saturating_mul(1_000);
    if let Err(error) = hub.store().sweep_inbox(hub.act(Principal::Hub), age_ms).await {
        tracing::warn!("the inbox cannot be swept: {error}");
    }
    if let Err(error) = hub.store().sweep_outbox(hub.act(Principal::Hub)).await {
        tracing::warn!("the outbox cannot be swept: {error}");
    }
}

/// Tells the owner of Connections that are down, and marks those whose work stands still.
async fn tell_owner(hub: &Hub) {
    let Ok(connections) = hub.store().all_connections().await else { return };
    let now = hub.now();
    for connection in connections.iter().filter(|c| c.enabled && c.archived_at.is_none()) {
        let health = hub.inner.board.health(&connection.id, false);
        let is_down = health.down_since.is_some_and(|since| now.since_ms(since) > DOWN_MS);
        let is_managed = connection.gateway_mode == loom_domain::connection::GatewayMode::Managed;
        if is_managed && is_down && health.state != ConnectionState::Connected {
            let text = format!("{} is {} ({})", connection.id, health.state, health.reason);
            let act = hub.act(Principal::Hub);
            let _ = hub
                .store()
                .tell(
                    act,
                    "connection_down".to_owned(),
                    connection.id.to_string(),
                    text,
                    format!("loom integration status {}", connection.id),
                )
                .await;
        }
    }
    match hub.store().oldest_ready_ms(now).await {
        Ok(oldest) => {
            let stalled = oldest > loom_domain::health::STALLED_MS;
            connections.iter().for_each(|c| hub.inner.board.stalled(&c.id, stalled));
        }
        Err(error) => tracing::warn!("the queue cannot be read: {error}"),
    }
}

async fn retain(hub: &Hub) {
    let keep = &hub.config().retention;
    let days = loom_store::ops::retention::Retention {
        items_days: keep.message_days,
        raw_days: keep.raw_event_days,
        refusals_days: keep.refusal_days,
        refusal_bodies_days: keep.refusal_body_days,
        event_keys_days: keep.event_key_days,
        message_keys_days: keep.message_days.saturating_add(keep.message_key_days),
    };
    if let Err(error) = hub.store().apply_retention(hub.act(Principal::Hub), days).await {
        tracing::warn!("old records cannot be removed: {error}");
    }
}
