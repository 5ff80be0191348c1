//! The courier of one Connection: takes Parts, sends them at the platform's pace, settles what is not known. It
//! lives as long as the lease, beside the sessions.

pub(crate) mod deliver;
mod pace;
mod settle;

use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Connection, Principal, Result, Timestamp, outbox::PartKind};
use loom_store::{Topic, ops::outbox::ClaimedPart};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{gateway::SessionHolder as Holder, hub::Hub};
use pace::Pace;

/// Longest wait without a look, a safety behind the wake-ups.
const SAFETY_POLL: Duration = Duration::from_secs(5);
/// Settlements at once.
const SETTLEMENTS_MAX: usize = 2;
/// Uploads at once that take no slot of the texts.
const UPLOADS_MAX: usize = 4;
/// Time that Parts in flight have to end after a stop.
const FINISH_LIMIT: Duration = Duration::from_secs(8);

/// What is in flight.
#[derive(Default)]
struct Flight {
    texts: JoinSet<()>,
    files: JoinSet<()>,
    settling: JoinSet<()>,
}

impl Flight {
    /// Parts that may be started: a few uploads do not count, so that they delay their own conversations only.
    fn free(&self, slots: usize) -> usize {
        slots.saturating_sub(self.texts.len() + self.files.len().saturating_sub(UPLOADS_MAX))
    }

    /// Lets what is on its way arrive, within a limit.
    async fn finish(mut self) {
        let all = async {
            while self.texts.join_next().await.is_some() {}
            while self.files.join_next().await.is_some() {}
        };
        if tokio::time::timeout(FINISH_LIMIT, all).await.is_err() {
            tracing::warn!("some sends did not end in time; what became of them is asked later");
        }
    }
}

/// Sends and settles while the lease is held, through the newest channel; sessions may come and go meanwhile.
pub(crate) async fn run(
    hub: &Hub,
    connection: &Arc<Connection>,
    fence: u64,
    mut current: watch::Receiver<Option<Holder>>,
    held: &CancellationToken,
) {
    let mut wakes = hub.store().watch(Topic::Outbox);
    let mut pace: Option<Pace> = None;
    let mut flight = Flight::default();
    while !held.is_cancelled() {
        wakes.borrow_and_update();
        let holder = current.borrow_and_update().clone();
        let wait = match &holder {
            None => SAFETY_POLL,
            Some(holder) => {
                let pace = pace.get_or_insert_with(|| Pace::new(holder.channel.pacing()));
                match work(holder, pace, &mut flight).await {
                    Ok(()) => next_look(hub, connection, pace).await,
                    Err(error) => {
                        tracing::warn!("the lease of {} (fence {fence}) was lost: {error}", connection.id);
                        held.cancel();
                        break;
                    }
                }
            }
        };
        tokio::select! {
            () = held.cancelled() => break,
            changed = wakes.changed() => if changed.is_err() { break },
            changed = current.changed() => if changed.is_err() { break },
            Some(_) = flight.texts.join_next() => {}
            Some(_) = flight.files.join_next() => {}
            Some(_) = flight.settling.join_next() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    flight.finish().await;
}

/// Starts what may start now. Fails when the lease is another's.
async fn work(holder: &Holder, pace: &Pace, flight: &mut Flight) -> Result<()> {
    if holder.hub.inner.drain.is_cancelled() {
        return Ok(());
    }
    let slots = usize::try_from(holder.hub.config().outbox.conversations_in_flight).unwrap_or(4);
    match take(holder, pace, flight.free(slots)).await {
        Ok(parts) => start(holder, pace, parts, flight),
        Err(error) if error.code == Code::LeaseLost => return Err(error),
        Err(error) => tracing::warn!("parts cannot be claimed: {error}"),
    }
    if flight.settling.is_empty() {
        settle::start(holder, &mut flight.settling, SETTLEMENTS_MAX).await;
    }
    Ok(())
}

async fn take(holder: &Holder, pace: &Pace, free: usize) -> Result<Vec<ClaimedPart>> {
    let act = holder.hub.act(Principal::Hub);
    let limit = u32::try_from(free.min(pace.connection_tokens())).unwrap_or(1);
    if limit == 0 {
        return Ok(Vec::new());
    }
    holder.hub.store().claim_parts(act, holder.connection.id.clone(), limit, pace.tired(), holder.fence).await
}

fn start(holder: &Holder, pace: &Pace, parts: Vec<ClaimedPart>, flight: &mut Flight) {
    for claimed in parts {
        pace.spend(&claimed.item.conversation.conversation_id);
        let lane = if claimed.part.kind == PartKind::File { &mut flight.files } else { &mut flight.texts };
        lane.spawn(deliver::part(holder.clone(), claimed));
    }
}

/// How long until something may be due.
async fn next_look(hub: &Hub, connection: &Connection, pace: &Pace) -> Duration {
    let due = hub.store().next_part_due(connection.id.clone()).await.ok().flatten();
    let until = |at: Timestamp| Duration::from_millis(u64::try_from(at.since_ms(hub.now())).unwrap_or(0));
    let wait = due.map_or(SAFETY_POLL, until).min(SAFETY_POLL).max(Duration::from_millis(5));
    pace.next_token().map_or(wait, |token| wait.min(token))
}
