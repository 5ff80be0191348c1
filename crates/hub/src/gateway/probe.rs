//! Proof that a socket is not deaf: the platform's history is compared with the ledger, within a budget.

use std::sync::Arc;
use std::time::Duration;

use loom_channels::HistoryQuery;
use loom_domain::{Code, ConnectionId, Error, Result, connection::Proof, health::DEAF_MS};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{catchup, monitor::HubMonitor, session::Holder};
use crate::{clock::JumpDetector, hub::Hub};

const JUMP_CHECK: Duration = Duration::from_secs(5);
/// Conversations compared in one probe.
const COMPARED_MAX: usize = 1;
/// Span of history that is compared.
const PROBED_MS: i64 = 3_600_000;
/// Shortest time between snapshots of the conversation list.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(300);

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResult {
    /// Conversations compared.
    pub compared: usize,
    /// Messages that the ledger did not know.
    pub unseen: usize,
    /// Whether one of them is old enough to mean that events do not arrive.
    pub deaf: bool,
}

/// Probes on schedule and watches for clock jumps.
pub(super) async fn run(holder: Holder, stop: CancellationToken, reconnect: Arc<Notify>) {
    let every = holder.hub.config().connections.probe_s;
    let mut jump = JumpDetector::new(holder.hub.inner.parts.clock.as_ref());
    let mut ticks = tokio::time::interval(JUMP_CHECK);
    let (mut waited, mut turn) = (0, 0);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if jump.jumped(holder.hub.inner.parts.clock.as_ref()) {
            tracing::info!("the clock jumped; the session is opened again");
            reconnect.notify_one();
        }
        waited += JUMP_CHECK.as_secs();
        if every == 0 || waited < every {
            continue;
        }
        waited = 0;
        turn += 1;
        if let Ok(result) = probe(&holder, turn).await
            && result.deaf
        {
            holder.hub.inner.board.deaf(&holder.connection.id, true);
            catchup::catch_up(&holder).await;
            reconnect.notify_one();
        }
    }
}

/// Compares conversations with the ledger, another one each time.
async fn probe(holder: &Holder, turn: usize) -> Result<ProbeResult> {
    let hub = &holder.hub;
    if !holder.channel.receives() {
        hub.inner.board.alive(&holder.connection.id, Proof::Probe);
        return Ok(ProbeResult { compared: 0, unseen: 0, deaf: false });
    }
    let known = hub.store().known_conversations(holder.connection.id.clone()).await?;
    // What was written before the first connect never came over the socket and never will.
    let first = hub.store().connection(holder.connection.id.clone()).await?.first_connected_at;
    let since = hub.now().plus_ms(-PROBED_MS).max(first.unwrap_or(hub.now()));
    let mut result = ProbeResult { compared: 0, unseen: 0, deaf: false };
    let start = if known.is_empty() { 0 } else { turn % known.len() };
    for conversation in known.iter().cycle().skip(start).take(COMPARED_MAX.min(known.len())) {
        let query = HistoryQuery {
            conversation_id: conversation.conversation_id.clone(),
            thread_id: None,
            after: conversation.newest_message_id.clone(),
            since: Some(since),
            limit: 20,
        };
        let page = holder.channel.history(query).await.map_err(|fault| {
            Error::new(Code::ProviderNetworkError, format!("the history cannot be read: {fault}"))
        })?;
        result.compared += 1;
        for message in page.messages.iter().filter(|m| !m.own) {
            let id = message.event.conversation.message_id.clone().unwrap_or_default();
            let is_known = hub
                .store()
                .knows_message(holder.connection.id.clone(), conversation.conversation_id.clone(), id)
                .await?;
            if !is_known {
                result.unseen += 1;
                let age = message.event.occurred_at.map_or(0, |at| hub.now().since_ms(at));
                result.deaf |= age > DEAF_MS;
            }
        }
    }
    hub.inner.board.alive(&holder.connection.id, Proof::Probe);
    if !result.deaf {
        hub.inner.board.deaf(&holder.connection.id, false);
    }
    Ok(result)
}

impl Hub {
    /// Probes a Connection now: who the credential is, and whether the newest messages are in the ledger.
    pub async fn probe_connection(&self, id: &ConnectionId) -> Result<ProbeResult> {
        let connection = self.store().connection(id.clone()).await?;
        let channel = self
            .channel(id)
            .ok_or_else(|| Error::new(Code::GatewayUnavailable, "no gateway serves this Connection"))?;
        let identity = channel.verify().await.map_err(|fault| {
            Error::new(Code::ProviderNetworkError, format!("the provider refused the probe: {fault}"))
        })?;
        let holder = Holder {
            hub: self.clone(),
            connection: Arc::new(connection),
            fence: 0,
            channel,
            identity: Arc::new(identity),
        };
        probe(&holder, 0).await
    }

    /// Reads the conversation list of a Connection now and stores it as Candidates. Gives their number.
    pub async fn refresh_candidates(&self, id: &ConnectionId) -> Result<usize> {
        let channel = self
            .channel(id)
            .ok_or_else(|| Error::new(Code::GatewayUnavailable, "no gateway serves this Connection"))?;
        snapshot(self, id, channel.as_ref()).await
    }
}

/// Stores the conversation list after a registration and then at most every five minutes.
pub(super) async fn snapshots(holder: Holder, monitor: Arc<HubMonitor>, stop: CancellationToken) {
    let mut registrations = monitor.registrations();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = registrations.changed() => if changed.is_err() { return },
        }
        if let Err(error) = snapshot(&holder.hub, &holder.connection.id, holder.channel.as_ref()).await {
            tracing::debug!("the conversation list cannot be read: {error}");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SNAPSHOT_EVERY) => {}
        }
    }
}

async fn snapshot(hub: &Hub, id: &ConnectionId, channel: &dyn loom_channels::Channel) -> Result<usize> {
    let found = channel.candidates().await.map_err(|fault| {
        Error::new(Code::ProviderNetworkError, format!("the conversation list cannot be read: {fault}"))
    })?;
    let seen: Vec<_> = found
        .into_iter()
        .map(|c| loom_store::ops::candidates::Seen {
            conversation_id: c.conversation_id,
            conversation_type: c.conversation_type,
            display_name: c.display_name,
            description: c.description,
            bot_is_member: c.bot_is_member,
        })
        .collect();
    let count = seen.len();
    hub.store()
        .put_candidates(hub.act(loom_domain::Principal::Connector(id.clone())), id.clone(), seen)
        .await?;
    Ok(count)
}
