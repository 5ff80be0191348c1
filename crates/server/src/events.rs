//! Where event streams get their events from.

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{AgentId, Error};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// Events that wait for one reader; one that is further behind is cut.
pub const QUEUE_MAX: usize = 1_024;

/// One event as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// Place in the order of all stored events; a live delta has none.
    pub seq: Option<u64>,
    /// Its type, such as `inbox.changed`.
    pub kind: String,
    /// The Agent whose object changed; events without one are not shown to Agents.
    pub agent: Option<AgentId>,
    /// The payload, JSON in one line.
    pub data: String,
}

/// What is left of the past.
#[derive(Debug, Clone)]
pub enum History {
    /// The oldest events that come after the asked place, in order; empty at the end.
    Events(Vec<Arc<StreamEvent>>),
    /// The asked place is older than what is kept.
    Gone,
}

/// The hub's events: stored ones to resume from, and live ones.
#[async_trait]
pub trait EventSource: Send + Sync + 'static {
    /// Registers for live events. The channel's capacity is the bound of a slow reader's queue.
    fn subscribe(&self) -> broadcast::Receiver<Arc<StreamEvent>>;
    /// Passes live events on until stopped; the server runs it as long as it serves.
    async fn pump(&self, stop: CancellationToken);
    /// Stored events after a place, at most `limit`.
    async fn after(&self, seq: u64, limit: usize) -> Result<History, Error>;
}
