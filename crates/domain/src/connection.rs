//! Connections and the health of their gateways.

use serde::{Deserialize, Serialize};

use crate::{Capability, Code, ConnectionId, Timestamp, words};

words! {
    /// Who runs the gateway of a Connection.
    pub enum GatewayMode {
        /// A supervised task of the hub.
        Managed = "managed",
        /// A process of its own over the Connector Protocol.
        External = "external",
    }
}

words! {
    /// State of a Connection, told truthfully (messaging specification 6.3).
    pub enum ConnectionState {
        /// Not enabled or archived.
        Disabled = "disabled",
        /// Session, registration and proof of life are all there.
        Connected = "connected",
        /// A session with a fault.
        Degraded = "degraded",
        /// An attempt runs.
        Connecting = "connecting",
        /// None of these.
        Disconnected = "disconnected",
    }
}

words! {
    /// Why a Connection is in its state.
    pub enum ConnectionReason {
        /// All is well.
        Ok = "ok",
        /// Never started.
        NeverStarted = "never_started",
        /// No gateway has a session.
        NoGateway = "no_gateway",
        /// Waiting before the next attempt.
        WaitingBackoff = "waiting_backoff",
        /// The credential was refused.
        AuthFailed = "auth_failed",
        /// The app is not set up for this.
        ConfigError = "config_error",
        /// A scope is missing.
        MissingScope = "missing_scope",
        /// A quota is used up.
        Quota = "quota",
        /// The provider asked to wait.
        RateLimited = "rate_limited",
        /// No proof of life within the window.
        ProofOverdue = "proof_overdue",
        /// The socket answers but events do not arrive.
        Deaf = "deaf",
        /// Work is ready but nothing takes it.
        Stalled = "stalled",
        /// The lease went to another owner.
        LeaseLost = "lease_lost",
        /// The network failed.
        Network = "network",
        /// The hub is shutting down.
        Draining = "draining",
    }
}

words! {
    /// What proved that a Connection is alive.
    pub enum Proof {
        /// A ping was answered, or any frame arrived.
        Pong = "pong",
        /// An event arrived.
        Event = "event",
        /// A history probe compared well.
        Probe = "probe",
        /// A send was confirmed.
        Receipt = "receipt",
        /// An external gateway reported proof.
        Heartbeat = "heartbeat",
    }
}

/// A fault of a whole Connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastError {
    /// Code.
    pub code: Code,
    /// One sentence, at most 512 bytes, redacted.
    pub message: String,
    /// When.
    pub at: Timestamp,
}

/// A platform app, bot, account or tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    /// Id.
    pub id: ConnectionId,
    /// Version, +1 with each change of a setting.
    pub version: u64,
    /// Order of commit.
    pub seq: u64,
    /// Provider word, such as `slack`.
    pub provider: String,
    /// App, bot or organisation at the provider.
    pub account_ref: String,
    /// Team, tenant or user at the provider.
    pub scope_ref: Option<String>,
    /// Brand of the provider's hosts (`feishu` or `lark`).
    pub brand: Option<String>,
    /// Reference to the credential; never the credential.
    pub credential_ref: String,
    /// Base URL, when not the provider's own.
    pub api_url: Option<String>,
    /// Proxy for REST, WebSocket and uploads.
    pub proxy_url: Option<String>,
    /// Whether plain http to a host that is not loopback is allowed.
    #[serde(default)]
    pub allow_http: bool,
    /// Who runs the gateway.
    pub gateway_mode: GatewayMode,
    /// Declared capabilities.
    pub capabilities: Vec<Capability>,
    /// Off: nothing in, nothing out, no platform call.
    pub enabled: bool,
    /// Successor after consolidation.
    pub superseded_by: Option<ConnectionId>,
    /// Archive time.
    pub archived_at: Option<Timestamp>,
    /// First time a gateway connected; older events are stale.
    pub first_connected_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
}

/// Providers that Loom knows by name.
pub const PROVIDERS: &[&str] = &["slack", "feishu", "parall", "webhook"];

/// Capabilities of a provider's built-in gateway.
pub fn default_capabilities(provider: &str) -> Vec<Capability> {
    use Capability as C;
    match provider {
        "slack" => vec![
            C::ReceiveEvents,
            C::Threads,
            C::ThreadContext,
            C::Mentions,
            C::ExplicitDispatch,
            C::AttachmentsIn,
            C::AttachmentsOut,
            C::Reactions,
            C::Edits,
            C::Recalls,
            C::ProactiveSend,
            C::History,
            C::SettleLookup,
        ],
        // Its gateway only sends.
        "feishu" => vec![
            C::Threads,
            C::AttachmentsOut,
            C::Reactions,
            C::ProactiveSend,
            C::History,
            C::SettleLookup,
            C::SettleIdempotent,
        ],
        "parall" => vec![
            C::ReceiveEvents,
            C::Threads,
            C::Mentions,
            C::ExplicitDispatch,
            C::AttachmentsIn,
            C::AttachmentsOut,
            C::ProactiveSend,
            C::SettleIdempotent,
        ],
        _ => vec![C::ReceiveEvents, C::Mentions, C::ExplicitDispatch, C::ProactiveSend, C::SettleIdempotent],
    }
}
