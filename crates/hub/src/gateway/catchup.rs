//! After each registration: messages that came while nobody listened are read from history, oldest first, and
//! judged like any other. Dedupe and staleness decide; nothing is answered twice.
//!
//! The store remembers up to when everything was read. It moves only after a complete pass, so a crash in the
//! middle of one leaves no hole, whatever came over the socket meanwhile. It also remembers when each conversation
//! was read: a pass begins with those that were read longest ago and reads only what is newer, so that a hub which
//! dies again and again still gets through all of them. A fault that passes, such as a rate limit, interrupts a
//! pass: it goes on with the conversations that are left.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use loom_channels::{Fault, FaultClass, HistoryQuery, Ingress as _};
use loom_domain::{Error, Principal, Timestamp};
use loom_store::ops::ledger::KnownConversation;
use tokio_util::sync::CancellationToken;

use super::{ingress::HubIngress, monitor::HubMonitor, session::Holder};

const OFFER_MAX: usize = 50;
/// History is read again this far behind the cursor: longer than a platform repeats an event that was not
/// acknowledged, and than a deaf socket stays unnoticed.
const LOOK_BACK_MS: i64 = 10 * 60 * 1_000;
/// A platform may show a message later than it was written.
const SHOWN_LATE_MS: i64 = 60 * 1_000;
/// Time between steps of the cursor while a session is up.
const ADVANCE_EVERY: Duration = Duration::from_secs(60);
/// Wait after a pass that could not read everything.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Catches up after every registration of the session.
pub(super) async fn run(holder: Holder, monitor: Arc<HubMonitor>, stop: CancellationToken) {
    let mut registrations = monitor.registrations();
    let mut is_complete = false;
    let mut pass = Pass::default();
    loop {
        let pause = if is_complete { ADVANCE_EVERY } else { RETRY_AFTER };
        let is_new = tokio::select! {
            () = stop.cancelled() => return,
            changed = registrations.changed() => match changed {
                Ok(()) => true,
                Err(_) => return,
            },
            () = tokio::time::sleep(pause) => false,
        };
        let Some(registered) = *registrations.borrow_and_update() else { continue };
        if is_new {
            (pass, is_complete) = (Pass::default(), false);
        }
        let work = async {
            match is_complete {
                true => advance(&holder, heard_until(&holder, registered)).await,
                false => is_complete = pass.go_on(&holder, registered).await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = work => {}
        }
    }
}

/// The newest proof of life. Time after it may have been slept away, or passed over a dead socket.
pub(crate) fn heard_until(holder: &Holder, registered: Timestamp) -> Timestamp {
    let health = holder.hub.connection_health(&holder.connection.id);
    health.proved_alive_at.unwrap_or(registered)
}

/// Reads everything up to now once more; for a socket that was found deaf.
pub(super) async fn catch_up(holder: &Holder) {
    Pass::default().go_on(holder, holder.hub.now()).await;
}

/// One reading of every conversation. It counts for the time of one registration: after the next, messages may
/// be missed anywhere.
#[derive(Default)]
pub(crate) struct Pass {
    /// Conversations that are done.
    done: HashSet<String>,
}

impl Pass {
    /// Reads what is left; true and remembered when that was everything.
    pub(crate) async fn go_on(&mut self, holder: &Holder, until: Timestamp) -> bool {
        match self.read_rest(holder).await {
            Ok(()) => {
                advance(holder, until).await;
                true
            }
            Err(fault) => {
                tracing::warn!("catch-up is not complete: {fault}");
                false
            }
        }
    }

    /// Reads the conversations with an enabled Membership that are not done. One that the platform refuses to show
    /// is passed over; a fault that may pass ends the reading for now.
    async fn read_rest(&mut self, holder: &Holder) -> Result<(), Fault> {
        let (hub, id) = (&holder.hub, &holder.connection.id);
        let conversations =
            hub.store().known_conversations(id.clone()).await.map_err(|error| local(&error))?;
        let since = start(holder).await.map_err(|error| local(&error))?;
        for known in conversations {
            if self.done.contains(&known.conversation_id) {
                continue;
            }
            let now = hub.now();
            if read(holder, &known.conversation_id, since.max(read_before(&known, now))).await? {
                let act = hub.act(Principal::Hub);
                let stored =
                    hub.store().conversation_read(act, id.clone(), known.conversation_id.clone(), now);
                stored.await.map_err(|error| local(&error))?;
            }
            self.done.insert(known.conversation_id);
        }
        Ok(())
    }
}

/// Everything older was read. A reading in the future, of a clock that was set back, says nothing.
fn read_before(known: &KnownConversation, now: Timestamp) -> Timestamp {
    known.read_at.filter(|at| *at <= now).map_or(Timestamp(0), |at| at.plus_ms(-SHOWN_LATE_MS))
}

async fn advance(holder: &Holder, at: Timestamp) {
    let act = holder.hub.act(Principal::Hub);
    if let Err(error) = holder.hub.store().advance_history_cursor(act, holder.connection.id.clone(), at).await
    {
        tracing::warn!("the history cursor was not stored: {error}");
    }
}

/// Reads and offers what is newer; false when the platform refuses to show the conversation.
async fn read(holder: &Holder, conversation: &str, since: Timestamp) -> Result<bool, Fault> {
    let query = HistoryQuery {
        conversation_id: conversation.to_owned(),
        thread_id: None,
        after: None,
        since: Some(since),
        limit: holder.hub.config().connections.catchup_max,
    };
    match holder.channel.history(query).await {
        Ok(page) => {
            if page.truncated {
                tell_truncated(holder, conversation).await;
            }
            offer(holder, page.messages.into_iter().filter(|m| !m.own).map(|m| m.event).collect()).await?;
            Ok(true)
        }
        Err(fault) if matches!(fault.class, FaultClass::Permanent | FaultClass::MissingScope) => {
            tracing::debug!("history of a conversation cannot be read: {fault}");
            Ok(false)
        }
        Err(fault) => Err(fault),
    }
}

/// Where a pass starts: behind the cursor, never before the first connect nor beyond the oldest age.
async fn start(holder: &Holder) -> Result<Timestamp, Error> {
    let (hub, id) = (&holder.hub, &holder.connection.id);
    let oldest = hub.now().plus_ms(-hub.config().connections.catchup_age_s.saturating_mul(1_000));
    let first = hub.store().connection(id.clone()).await?.first_connected_at;
    let cursor = hub.store().history_cursor(id.clone()).await?.map(|at| at.plus_ms(-LOOK_BACK_MS));
    Ok(cursor.into_iter().chain(first).chain([oldest]).max().unwrap_or(oldest))
}

async fn tell_truncated(holder: &Holder, conversation: &str) {
    let hub = &holder.hub;
    let text = format!("more messages were missed in {conversation} than can be read back");
    let _ = hub
        .store()
        .tell(
            hub.act(Principal::Hub),
            "backfill_truncated".to_owned(),
            holder.connection.id.to_string(),
            text,
            format!("loom integration status {}", holder.connection.id),
        )
        .await;
}

async fn offer(holder: &Holder, events: Vec<loom_domain::InboundEvent>) -> Result<(), Fault> {
    let ingress = HubIngress::new(holder.clone());
    for batch in events.chunks(OFFER_MAX) {
        let taken = ingress.offer(batch.to_vec()).await;
        taken
            .map_err(|_| Fault::new(FaultClass::Retryable, "not_stored", "the store takes no events now"))?;
    }
    Ok(())
}

fn local(error: &Error) -> Fault {
    Fault::new(FaultClass::Retryable, error.code.as_str(), error.message.clone())
}
