//! What a channel is given to serve a session, and what it reports back.

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{
    InboundEvent, InboxId, MessageId, connection::Proof, message::Decision, outbox::Step, reason::EventReason,
};
use tokio_util::sync::CancellationToken;

use crate::Fault;

/// How the hub judged one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The platform's id of the event.
    pub event_id: String,
    /// Decision.
    pub decision: Decision,
    /// Reason code.
    pub reason: EventReason,
    /// Item that was made.
    pub item_id: Option<InboxId>,
    /// Message that was stored.
    pub message_id: Option<MessageId>,
}

/// Why the hub did not take events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IngressFault {
    /// Nothing was stored; offer again (the store is busy or read-only). Do not acknowledge.
    Retry {
        /// Suggested wait.
        after_ms: u64,
    },
    /// The session lost its lease; stop.
    LeaseLost,
}

/// Where a channel hands over events. `Ok` means every event is on disk.
#[async_trait]
pub trait Ingress: Send + Sync {
    /// Stores and judges events in the given order.
    async fn offer(&self, events: Vec<InboundEvent>) -> Result<Vec<Judged>, IngressFault>;
}

/// Where a channel reports the state of its session. Calls never block.
pub trait Monitor: Send + Sync {
    /// An attempt to connect started.
    fn connecting(&self);
    /// The platform confirmed the registration; `sockets` are open.
    fn registered(&self, sockets: u32);
    /// Something proved that the platform is there.
    fn alive(&self, proof: Proof);
    /// A fault of the whole Connection (not of one message).
    fn fault(&self, fault: &Fault);
    /// Sockets of ours now open.
    fn sockets(&self, open: u32);
    /// More sockets exist for the app than are ours.
    fn foreign_connection(&self, total: u32);
}

/// What a channel needs to serve a session.
#[derive(Clone)]
pub struct Session {
    /// Where events go.
    pub ingress: Arc<dyn Ingress>,
    /// Where state goes.
    pub monitor: Arc<dyn Monitor>,
    /// Ends the session.
    pub stop: CancellationToken,
    /// Wakes up to force a reconnect (deaf socket, clock jump).
    pub reconnect: Arc<tokio::sync::Notify>,
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// `stop` was cancelled.
    Stopped,
    /// A reconnect was asked for.
    Reconnect,
    /// The lease was lost.
    LeaseLost,
    /// The connection failed; the class decides the wait before the next try.
    Failed(Fault),
}

/// Where a delivery reports how far it got. Must be called before the bytes of the step leave.
#[async_trait]
pub trait Progress: Send + Sync {
    /// Commits the step. On `Err` the delivery must stop without sending.
    async fn step(&self, step: Step, provider_key: Option<String>) -> Result<(), loom_domain::Error>;
}
