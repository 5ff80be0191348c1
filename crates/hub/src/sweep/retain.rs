//! Removes what is past its retention: records, files that nothing refers to any more, journals.

use loom_capabilities::Doing;
use loom_domain::{Principal, Result};
use loom_store::ops::retention::Retention;

use crate::hub::Hub;
use crate::multi_agent;

/// Steps of one round; what is left waits for the next.
const STEPS_MAX: u32 = 200;
/// Age at which a file that nothing refers to is removed, milliseconds.
const UNREFERENCED_MS: i64 = DAY_MS;
const DAY_MS: i64 = 24 * 3_600_000;

/// Removes files that a crash left without a record.
pub(super) async fn orphans(hub: &Hub) {
    let blobs = hub.blobs();
    let stored = tokio::task::spawn_blocking(move || blobs.digests()).await.unwrap_or_default();
    for sha256 in stored {
        if let Err(error) = hub.forget_orphan(sha256).await {
            tracing::warn!("a file without a record cannot be removed: {error}");
            return;
        }
    }
}

/// One round.
pub(crate) async fn run(hub: &Hub) {
    if let Err(error) = records(hub).await {
        tracing::warn!("old records cannot be removed: {error}");
    }
    if let Err(error) = files(hub).await {
        tracing::warn!("old files cannot be removed: {error}");
    }
    journals(hub).await;
}

/// Days of the configuration, where 0 keeps, as the store takes them.
fn days(configured: u32) -> u32 {
    if configured == 0 { u32::MAX } else { configured }
}

async fn records(hub: &Hub) -> Result<()> {
    let keep = &hub.config().retention;
    let retention = Retention {
        items_days: days(keep.message_days),
        raw_days: days(keep.raw_event_days),
        refusals_days: days(keep.refusal_days),
        refusal_bodies_days: days(keep.refusal_body_days),
        event_keys_days: days(keep.event_key_days),
        message_keys_days: days(keep.message_days).saturating_add(days(keep.message_key_days)),
    };
    for _ in 0..STEPS_MAX {
        if hub.store().apply_retention(hub.act(Principal::Hub), retention).await?.total() == 0 {
            break;
        }
    }
    for _ in 0..STEPS_MAX {
        if hub.store().expire_deliveries(hub.act(Principal::Hub)).await? == 0 {
            break;
        }
    }
    hub.store().prune_deliveries(hub.act(Principal::Hub)).await?;
    hub.store().prune_plans(hub.act(Principal::Hub), retention.items_days).await?;
    hub.store().prune_occurrences(hub.act(Principal::Hub), retention.items_days).await?;
    for _ in 0..STEPS_MAX {
        if hub.store().prune_hooks(hub.act(Principal::Hub), retention.raw_days).await? == 0 {
            break;
        }
    }
    Ok(())
}

async fn files(hub: &Hub) -> Result<()> {
    for _ in 0..STEPS_MAX {
        let before = hub.now().plus_ms(-UNREFERENCED_MS);
        let old = hub.store().unreferenced_artifacts(before).await?;
        if old.is_empty() {
            break;
        }
        for artifact in old {
            hub.forget_artifact(artifact).await?;
        }
    }
    Ok(())
}

/// Turns and loops that were over before the retention of messages, and payloads beyond their age and size.
async fn journals(hub: &Hub) {
    let kept_ms = i64::from(days(hub.config().retention.message_days)).saturating_mul(DAY_MS);
    let (owner, now) = (hub.clone(), hub.now());
    let before = now.plus_ms(-kept_ms);
    let prune = move || {
        let room = owner.turn_room();
        room.prune(before);
        multi_agent::prune(&owner, before);
        if let Err(error) = room.payloads().prune(None, now, &room.held_payloads(), Doing::Remove) {
            tracing::warn!("old payloads cannot be removed: {error}");
        }
    };
    if let Err(error) = tokio::task::spawn_blocking(prune).await {
        tracing::warn!("old journals cannot be removed: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_days_keep() {
        assert_eq!((days(0), days(7)), (u32::MAX, 7));
    }
}
