//! The hub at a glance.

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// What the hub is and what waits in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HubStatus {
    /// Version of the program.
    pub version: String,
    /// `serving`, `draining` or `read_only`.
    pub state: String,
    /// Node id.
    #[serde(default)]
    pub node: Option<String>,
    /// Process id.
    #[serde(default)]
    pub pid: Option<u32>,
    /// Start.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// Store kind, `sqlite` or `postgres`.
    #[serde(default)]
    pub store: Option<String>,
    /// Where it listens: socket path and URLs.
    #[serde(default)]
    pub listen: Vec<String>,
    /// Agents.
    #[serde(default)]
    pub agents: AgentTotals,
    /// Connections.
    #[serde(default)]
    pub connections: ConnectionTotals,
    /// Inbox.
    #[serde(default)]
    pub inbox: InboxTotals,
    /// Outbox.
    #[serde(default)]
    pub outbox: OutboxTotals,
    /// Notices not yet acknowledged.
    #[serde(default)]
    pub notices: u64,
}

/// Totals of Agents that are not archived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTotals {
    /// All.
    pub total: u64,
    /// With a running Turn.
    pub running: u64,
    /// Paused.
    pub paused: u64,
}

/// Totals of Connections that are not archived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionTotals {
    /// All.
    pub total: u64,
    /// Connected.
    pub connected: u64,
    /// Degraded.
    pub degraded: u64,
    /// Connecting or disconnected.
    pub down: u64,
    /// Disabled.
    pub disabled: u64,
}

/// Totals of open Inbox items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InboxTotals {
    /// Queued.
    pub queued: u64,
    /// In a Turn.
    pub handling: u64,
    /// Waiting for approval of their sender.
    pub pending_access: u64,
    /// Waiting for a decision.
    pub needs_decision: u64,
    /// Age of the oldest queued item, seconds.
    pub oldest_seconds: Option<u64>,
}

/// Totals of open Outbox items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OutboxTotals {
    /// Pending, sending or waiting for a retry.
    pub open: u64,
    /// Held.
    pub held: u64,
    /// Of unknown fate.
    pub unknown: u64,
    /// Failed or expired.
    pub dead: u64,
}
