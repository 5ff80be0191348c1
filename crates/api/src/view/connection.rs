//! Connections, their truthful health, and Candidates.

use loom_domain::connection::{ConnectionReason, ConnectionState, GatewayMode, LastError, Proof};
use loom_domain::{Address, Candidate, Capability, Connection, MembershipId, Timestamp, TokenId};
use serde::{Deserialize, Serialize};

/// A Connection with its Addresses and its health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionEntry {
    /// The Connection.
    #[serde(flatten)]
    pub connection: Connection,
    /// Present state.
    pub state: ConnectionState,
    /// Why.
    pub reason: ConnectionReason,
    /// Full health.
    #[serde(default)]
    pub health: Option<Health>,
    /// A standing fault of the whole Connection.
    #[serde(default)]
    pub last_error: Option<LastError>,
    /// Its Addresses.
    #[serde(default)]
    pub addresses: Vec<Address>,
}

/// Health of a Connection (messaging specification 6.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// State.
    pub state: ConnectionState,
    /// Why.
    pub reason: ConnectionReason,
    /// Since when.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Start of the present outage.
    #[serde(default)]
    pub down_since: Option<Timestamp>,
    /// Newest proof of life.
    #[serde(default)]
    pub proved_alive_at: Option<Timestamp>,
    /// Its age in seconds.
    #[serde(default)]
    pub proved_alive_seconds_ago: Option<u64>,
    /// What it was.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// Newest event.
    #[serde(default)]
    pub last_event_at: Option<Timestamp>,
    /// Newest accepted event.
    #[serde(default)]
    pub last_accepted_at: Option<Timestamp>,
    /// Newest start of a Turn.
    #[serde(default)]
    pub last_dispatched_at: Option<Timestamp>,
    /// Newest delivered Part.
    #[serde(default)]
    pub last_sent_at: Option<Timestamp>,
    /// Age of the oldest queued item, seconds.
    #[serde(default)]
    pub oldest_queued_seconds: Option<u64>,
    /// Age of the oldest open Part, seconds.
    #[serde(default)]
    pub oldest_outbox_seconds: Option<u64>,
    /// Open Parts.
    #[serde(default)]
    pub pending: u64,
    /// Parts of unknown fate.
    #[serde(default)]
    pub unknown: u64,
    /// Events waiting in the gateway's spool.
    #[serde(default)]
    pub spool: Spool,
    /// The gateway's session.
    #[serde(default)]
    pub session: Option<Session>,
    /// The next attempt to connect.
    #[serde(default)]
    pub reconnect: Option<Reconnect>,
    /// A rate stop.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
    /// Scopes granted and missing.
    #[serde(default)]
    pub scopes: ScopeEvidence,
    /// Capabilities declared and proven.
    #[serde(default)]
    pub capabilities: CapabilityEvidence,
    /// A standing fault of the whole Connection.
    #[serde(default)]
    pub last_error: Option<LastError>,
    /// When the last fault was disproved.
    #[serde(default)]
    pub last_error_resolved_at: Option<Timestamp>,
}

/// Fill of a gateway's spool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spool {
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A gateway's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Fence of its lease.
    pub fence: u64,
    /// Hub node or gateway name.
    pub node: String,
    /// Who runs it.
    pub mode: GatewayMode,
    /// Start.
    pub started_at: Timestamp,
    /// Restarts since the hub came up.
    #[serde(default)]
    pub restarts: u64,
    /// Version of the gateway.
    #[serde(default)]
    pub version: Option<String>,
}

/// The next attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconnect {
    /// Attempts in a row.
    pub attempt: u32,
    /// When.
    #[serde(default)]
    pub next_at: Option<Timestamp>,
}

/// A rate stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// What it covers.
    pub scope: String,
    /// Its end.
    pub until: Timestamp,
}

/// Scopes of the credential.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeEvidence {
    /// Granted.
    pub have: Vec<String>,
    /// Needed but not granted.
    pub missing: Vec<String>,
}

/// Capabilities of a Connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapabilityEvidence {
    /// Declared.
    pub declared: Vec<Capability>,
    /// Proven by the gateway.
    pub proven: Vec<Capability>,
}

/// Result of one probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeResult {
    /// Whether the Connection proved itself alive.
    pub ok: bool,
    /// What was checked and seen, one sentence each.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Health after it.
    pub health: Health,
    /// Fault that was met.
    #[serde(default)]
    pub error: Option<LastError>,
}

/// Work that was accepted and goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// Always true.
    pub accepted: bool,
}

/// A Candidate and the Membership it already is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateEntry {
    /// The Candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Its Membership, shown with `all`.
    #[serde(default)]
    pub membership_id: Option<MembershipId>,
}

/// A fresh token; its value is never shown again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedToken {
    /// Id, for revocation.
    pub id: TokenId,
    /// The value.
    pub token: String,
    /// Its end.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken").field("id", &self.id).finish_non_exhaustive()
    }
}
