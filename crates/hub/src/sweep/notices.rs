//! What the owner is told (messaging specification 6.6). Each thing is told once for as long as it lasts.

use std::collections::HashSet;

use loom_domain::{
    Connection, OutboxItem, Principal, Result, Timestamp,
    connection::{ConnectionReason, ConnectionState, GatewayMode},
};

use super::disk::Space;
use crate::hub::Hub;

/// Time without a connection after which the owner is told, milliseconds.
const DOWN_MS: i64 = 2 * 60_000;
/// Age of the oldest queued item of an Agent, milliseconds.
const QUEUED_MS: i64 = 10 * 60_000;
/// Age of a reply that is not delivered, milliseconds.
const AWAITING_MS: i64 = 15 * 60_000;
/// Age of an unknown delivery, milliseconds.
const UNKNOWN_MS: i64 = 15 * 60_000;
/// Shortest time between two digests of pending access, milliseconds.
const DIGEST_MS: i64 = 60 * 60_000;

/// One thing to tell.
struct Told {
    kind: &'static str,
    object: String,
    text: String,
    hint: String,
}

/// Looks at what the owner should know and remembers what was told.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// What lasts since an earlier look.
    lasting: HashSet<String>,
    /// What this look found.
    found: HashSet<String>,
    digest_at: Option<Timestamp>,
    was_read_only: bool,
}

impl Teller {
    /// One look. A store that takes no writes cannot keep a Notice: the log and the status tell of it.
    pub(crate) async fn look(&mut self, hub: &Hub) {
        let fault = hub.store().health().borrow().fault.clone();
        if let Some(why) = &fault {
            if !std::mem::replace(&mut self.was_read_only, true) {
                tracing::error!("the store takes no writes: {why}");
            }
            return;
        }
        if std::mem::take(&mut self.was_read_only) {
            tracing::info!("the store takes writes again");
        }
        if let Err(error) = self.look_at_all(hub).await {
            tracing::warn!("not everything that the owner should know could be read: {error}");
        }
        self.lasting = std::mem::take(&mut self.found);
    }

    async fn look_at_all(&mut self, hub: &Hub) -> Result<()> {
        self.disk(hub).await;
        let connections = hub.store().all_connections().await?;
        stalled(hub, &connections).await?;
        self.connections(hub, &connections).await;
        self.queues(hub).await?;
        self.deliveries(hub).await?;
        self.unknown(hub).await?;
        self.pending_access(hub).await
    }

    async fn tell(&mut self, hub: &Hub, told: Told) {
        let key = format!("{}:{}", told.kind, told.object);
        if !self.lasting.contains(&key) {
            let act = hub.act(Principal::Hub);
            let stored = hub.store().tell(act, told.kind.to_owned(), told.object, told.text, told.hint).await;
            if let Err(error) = stored {
                tracing::warn!("a Notice was not stored: {error}");
                return;
            }
        }
        self.found.insert(key);
    }

    async fn disk(&mut self, hub: &Hub) {
        let Some(space) = Space::of(hub.home().root()).filter(|space| space.is_low()) else { return };
        let mib = space.free / (1_024 * 1_024);
        let told = Told {
            kind: "disk_low",
            object: String::new(),
            text: format!("the disk of the data directory has {mib} MiB left"),
            hint: "loom status".to_owned(),
        };
        self.tell(hub, told).await;
    }

    async fn connections(&mut self, hub: &Hub, connections: &[Connection]) {
        let now = hub.now();
        let managed = |c: &&Connection| c.enabled && c.gateway_mode == GatewayMode::Managed;
        for connection in connections.iter().filter(managed) {
            let health = hub.connection_health(&connection.id);
            let is_down = health.down_since.is_some_and(|since| now.since_ms(since) > DOWN_MS);
            let kind = match (health.state, health.reason) {
                (ConnectionState::Connected | ConnectionState::Disabled, _) => continue,
                (ConnectionState::Degraded, ConnectionReason::Deaf) => "deaf",
                (ConnectionState::Degraded, ConnectionReason::ProofOverdue) => "proof_overdue",
                _ if is_down => "connection_down",
                _ => continue,
            };
            let told = Told {
                kind,
                object: connection.id.to_string(),
                text: format!("{} is {} ({})", connection.id, health.state, health.reason),
                hint: format!("loom integration status {}", connection.id),
            };
            self.tell(hub, told).await;
        }
    }

    async fn queues(&mut self, hub: &Hub) -> Result<()> {
        let now = hub.now();
        for old in hub.store().old_queues(now.plus_ms(-QUEUED_MS)).await? {
            let minutes = now.since_ms(old.oldest) / 60_000;
            let told = Told {
                kind: "queue_old",
                object: old.agent.to_string(),
                text: format!("{} items of {} wait, the oldest for {minutes} minutes", old.items, old.agent),
                hint: format!("loom inbox list {}", old.agent),
            };
            self.tell(hub, told).await;
        }
        Ok(())
    }

    async fn deliveries(&mut self, hub: &Hub) -> Result<()> {
        for reply in hub.store().replies_waiting(hub.now().plus_ms(-AWAITING_MS)).await? {
            let Some(item) = &reply.inbox_item_id else { continue };
            let told = Told {
                kind: "delivery_waiting",
                object: item.to_string(),
                text: format!("the reply {} to {item} is not delivered: {}", reply.id, cause(hub, &reply)),
                hint: format!("loom outbox get {}", reply.id),
            };
            self.tell(hub, told).await;
        }
        Ok(())
    }

    async fn unknown(&mut self, hub: &Hub) -> Result<()> {
        for send in hub.store().unknown_sends(hub.now().plus_ms(-UNKNOWN_MS)).await? {
            let told = Told {
                kind: "delivery_unknown",
                object: send.id.to_string(),
                text: format!("it is not known whether {} arrived", send.id),
                hint: format!("loom outbox get {}", send.id),
            };
            self.tell(hub, told).await;
        }
        Ok(())
    }

    async fn pending_access(&mut self, hub: &Hub) -> Result<()> {
        let now = hub.now();
        if self.digest_at.is_some_and(|at| now.since_ms(at) < DIGEST_MS) {
            return Ok(());
        }
        let pending = hub.store().pending_access().await?;
        if pending.items == 0 {
            return Ok(());
        }
        let ids: Vec<_> = pending.first.iter().map(ToString::to_string).collect();
        let more = if pending.items > pending.first.len() as u64 { ", …" } else { "" };
        let told = Told {
            kind: "pending_access",
            object: String::new(),
            text: format!("{} messages wait for your approval: {}{more}", pending.items, ids.join(", ")),
            hint: "loom inbox list --state pending_access".to_owned(),
        };
        self.tell(hub, told).await;
        self.digest_at = Some(now);
        Ok(())
    }
}

/// Why a reply is not out: its Connection, when that is not up, else what became of it.
fn cause(hub: &Hub, reply: &OutboxItem) -> String {
    let connection = &reply.conversation.connection_id;
    let health = hub.connection_health(connection);
    if health.state != ConnectionState::Connected {
        return format!("{connection} is {} ({})", health.state, health.reason);
    }
    match (&reply.last_error, reply.state_reason) {
        (Some(error), _) => format!("it is {} ({})", reply.state, error.code),
        (None, Some(reason)) => format!("it is {} ({reason})", reply.state),
        (None, None) => format!("it is {}", reply.state),
    }
}

/// Marks the Connections whose ready work nobody takes.
async fn stalled(hub: &Hub, connections: &[Connection]) -> Result<()> {
    let oldest = hub.store().oldest_ready_ms(hub.now()).await?;
    let is_stalled = oldest > loom_domain::health::STALLED_MS;
    connections.iter().for_each(|c| hub.inner.board.stalled(&c.id, is_stalled));
    Ok(())
}
