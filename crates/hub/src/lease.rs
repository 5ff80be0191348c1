//! Leases are renewed while the work under them runs.

use std::time::Duration;

use loom_domain::{Code, Principal};
use tokio::time::Instant;

use crate::hub::Hub;

/// Renews a lease every third of its time; returns when it is lost. Time is counted from before each renewal was
/// sent, and the work ends a margin before the lease does.
pub(crate) async fn keep(hub: &Hub, name: &str, fence: u64, ttl_ms: i64) {
    let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let ttl = millis(ttl_ms);
    let margin = millis(hub.config().lease.margin_ms).min(ttl / 3);
    let mut good_until = Instant::now() + ttl - margin;
    loop {
        tokio::time::sleep(ttl / 3).await;
        let sent = Instant::now();
        let renewal = hub.store().lease(hub.act(Principal::Hub), name.to_owned(), ttl_ms, Some(fence));
        match tokio::time::timeout_at(good_until, renewal).await {
            Ok(Ok(lease)) if lease.fence == fence => good_until = sent + ttl - margin,
            Ok(Err(error)) if !matches!(error.code, Code::Locked | Code::LeaseLost) && sent < good_until => {}
            _ => return,
        }
    }
}
