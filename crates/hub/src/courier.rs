//! The courier of one Connection: takes Parts, sends them at the platform's pace, settles what is not known.

mod deliver;
mod pace;
mod settle;

use std::time::Duration;

use loom_domain::{Principal, Result, Timestamp};
use loom_store::{Topic, ops::outbox::ClaimedPart};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::gateway::SessionHolder as Holder;
use pace::Pace;

/// Longest wait without a look, a safety behind the wake-ups.
const SAFETY_POLL: Duration = Duration::from_secs(5);
/// Settlements at once.
const SETTLEMENTS_MAX: usize = 2;

/// Sends and settles until the session stops. Parts in flight are finished; they end by themselves.
pub(crate) async fn run(holder: Holder, stop: CancellationToken) {
    let mut wakes = holder.hub.store().watch(Topic::Outbox);
    let pace = Pace::new(holder.channel.pacing());
    let mut sending = JoinSet::new();
    let mut settling = JoinSet::new();
    loop {
        wakes.borrow_and_update();
        let slots = usize::try_from(holder.hub.config().outbox.conversations_in_flight).unwrap_or(4);
        let free = slots.saturating_sub(sending.len());
        let is_draining = holder.hub.inner.drain.is_cancelled() || stop.is_cancelled();
        if !is_draining && free > 0 {
            match take(&holder, &pace, free).await {
                Ok(parts) => start(&holder, &pace, parts, &mut sending),
                Err(error) if error.code == loom_domain::Code::LeaseLost => break,
                Err(error) => tracing::warn!("parts cannot be claimed: {error}"),
            }
        }
        if !is_draining && settling.is_empty() {
            settle::start(&holder, &mut settling, SETTLEMENTS_MAX).await;
        }
        let wait = next_look(&holder, &pace).await;
        tokio::select! {
            () = stop.cancelled() => break,
            changed = wakes.changed() => if changed.is_err() { break },
            Some(_) = sending.join_next() => {}
            Some(_) = settling.join_next() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    while sending.join_next().await.is_some() {}
    settling.shutdown().await;
}

async fn take(holder: &Holder, pace: &Pace, free: usize) -> Result<Vec<ClaimedPart>> {
    let act = holder.hub.act(Principal::Hub);
    let limit = u32::try_from(free.min(pace.connection_tokens())).unwrap_or(1);
    if limit == 0 {
        return Ok(Vec::new());
    }
    holder.hub.store().claim_parts(act, holder.connection.id.clone(), limit, pace.tired(), holder.fence).await
}

fn start(holder: &Holder, pace: &Pace, parts: Vec<ClaimedPart>, sending: &mut JoinSet<()>) {
    for claimed in parts {
        pace.spend(&claimed.item.conversation.conversation_id);
        sending.spawn(deliver::part(holder.clone(), claimed));
    }
}

/// How long until something may be due.
async fn next_look(holder: &Holder, pace: &Pace) -> Duration {
    let due = holder.hub.store().next_part_due(holder.connection.id.clone()).await.ok().flatten();
    let until =
        |at: Timestamp| Duration::from_millis(u64::try_from(at.since_ms(holder.hub.now())).unwrap_or(0));
    let wait = due.map_or(SAFETY_POLL, until).min(SAFETY_POLL).max(Duration::from_millis(5));
    pace.next_token().map_or(wait, |token| wait.min(token))
}
