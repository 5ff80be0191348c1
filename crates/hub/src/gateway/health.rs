//! The board of what is known about each Connection now; states come from it, never from hope.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_channels::{Fault as ChannelFault, FaultClass, Identity};
use loom_domain::{
    Code, Connection, ConnectionId, Error, Timestamp,
    connection::{ConnectionReason, ConnectionState, LastError, Proof},
    health::{Fault, HealthInput, proof_window_ms, state},
    message::Decision,
};
use loom_store::ops::inbound::Judged;
use tokio::time::Instant;

use crate::clock::Clock;

const MESSAGE_BYTES_MAX: usize = 512;

/// What is known of one Connection.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a hidden state")]
struct Entry {
    provider: String,
    enabled: bool,
    managed: bool,
    ever_started: bool,
    fence: Option<u64>,
    lease_lost: bool,
    registered: bool,
    attempt_running: bool,
    waiting_until: Option<Timestamp>,
    attempt: u32,
    proof: Option<(Proof, Timestamp, Instant)>,
    fault: Option<Fault>,
    network_failed: bool,
    rate_until: Option<Timestamp>,
    deaf: bool,
    stalled: bool,
    last_error: Option<LastError>,
    last_error_resolved_at: Option<Timestamp>,
    last_event_at: Option<Timestamp>,
    last_accepted_at: Option<Timestamp>,
    last_sent_at: Option<Timestamp>,
    session_started_at: Option<Timestamp>,
    restarts: u64,
    sockets: u32,
    foreign: Option<u32>,
    scopes: Vec<String>,
    missing_scopes: Vec<String>,
    since: Option<(ConnectionState, Timestamp)>,
    down_since: Option<Timestamp>,
}

/// Health of one Connection as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionHealth {
    /// State.
    pub state: ConnectionState,
    /// Why.
    pub reason: ConnectionReason,
    /// Since when it is in this state.
    pub since: Option<Timestamp>,
    /// Since when it is not connected.
    pub down_since: Option<Timestamp>,
    /// Newest proof of life.
    pub proved_alive_at: Option<Timestamp>,
    /// Its kind.
    pub proof: Option<Proof>,
    /// Its age by the monotonic clock, seconds.
    pub proved_alive_seconds_ago: Option<u64>,
    /// Newest event.
    pub last_event_at: Option<Timestamp>,
    /// Newest event that was accepted.
    pub last_accepted_at: Option<Timestamp>,
    /// Newest confirmed send.
    pub last_sent_at: Option<Timestamp>,
    /// Fence of the lease.
    pub fence: Option<u64>,
    /// Start of the session.
    pub session_started_at: Option<Timestamp>,
    /// Sessions started since the hub started, less one.
    pub restarts: u64,
    /// Attempts since the last settled session.
    pub attempt: u32,
    /// Next attempt.
    pub next_attempt_at: Option<Timestamp>,
    /// End of a pause the provider asked for.
    pub rate_limited_until: Option<Timestamp>,
    /// Open sockets.
    pub sockets: u32,
    /// Sockets of the app that are not ours.
    pub foreign: Option<u32>,
    /// Scopes granted.
    pub scopes: Vec<String>,
    /// Scopes missing.
    pub missing_scopes: Vec<String>,
    /// Newest fault of the whole Connection.
    pub last_error: Option<LastError>,
    /// When the last fault was disproved.
    pub last_error_resolved_at: Option<Timestamp>,
}

/// The board.
#[derive(Debug)]
pub(crate) struct Board {
    clock: Arc<dyn Clock>,
    entries: Mutex<HashMap<ConnectionId, Entry>>,
}

impl ConnectionHealth {
    /// The word of readiness: `live` is proven, `serving` has a session, `connecting` has none yet.
    pub fn readiness(&self) -> &'static str {
        match self.state {
            ConnectionState::Connected => "live",
            ConnectionState::Degraded => "serving",
            ConnectionState::Connecting | ConnectionState::Disconnected => "connecting",
            ConnectionState::Disabled => "disabled",
        }
    }
}

impl Board {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Board { clock, entries: Mutex::default() }
    }

    fn with<T>(&self, id: &ConnectionId, change: impl FnOnce(&mut Entry, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.entry(id.clone()).or_default();
        let out = change(entry, now);
        note_state(entry, now);
        out
    }

    pub(crate) fn configure(&self, connection: &Connection) {
        let enabled = connection.enabled && connection.archived_at.is_none();
        let managed = connection.gateway_mode == loom_domain::connection::GatewayMode::Managed;
        self.with(&connection.id, |e, _| {
            e.provider.clone_from(&connection.provider);
            e.enabled = enabled;
            e.managed = managed;
        });
    }

    pub(crate) fn leased(&self, id: &ConnectionId, fence: u64) {
        self.with(id, |e, _| {
            e.fence = Some(fence);
            e.lease_lost = false;
            e.ever_started = true;
        });
    }

    pub(crate) fn lease_refused(&self, id: &ConnectionId, error: &Error) {
        self.with(id, |e, now| {
            e.lease_lost = error.code == Code::Locked;
            if error.code != Code::Locked {
                e.last_error = Some(last_error(error.code, &error.message, now));
            }
        });
    }

    pub(crate) fn unleased(&self, id: &ConnectionId) {
        self.with(id, |e, _| {
            e.fence = None;
            e.registered = false;
            e.attempt_running = false;
        });
    }

    pub(crate) fn connecting(&self, id: &ConnectionId, attempt: u32) {
        self.with(id, |e, _| {
            e.attempt_running = true;
            e.waiting_until = None;
            e.attempt = attempt;
        });
    }

    pub(crate) fn attempting(&self, id: &ConnectionId) {
        self.with(id, |e, _| e.attempt_running = true);
    }

    pub(crate) fn identified(&self, id: &ConnectionId, identity: &Identity) {
        self.with(id, |e, _| {
            e.scopes.clone_from(&identity.scopes);
            e.missing_scopes.clone_from(&identity.missing_scopes);
            e.fault = (!identity.missing_scopes.is_empty()).then_some(Fault::Scope);
        });
    }

    pub(crate) fn registered(&self, id: &ConnectionId, sockets: u32) {
        self.with(id, |e, now| {
            if e.session_started_at.replace(now).is_some() {
                e.restarts += 1;
            }
            e.registered = true;
            e.attempt_running = false;
            e.network_failed = false;
            e.deaf = false;
            e.sockets = sockets;
            e.proof = Some((Proof::Pong, now, Instant::now()));
            resolve(e, now);
        });
    }

    pub(crate) fn alive(&self, id: &ConnectionId, proof: Proof) {
        self.with(id, |e, now| {
            e.proof = Some((proof, now, Instant::now()));
            if proof == Proof::Receipt {
                e.last_sent_at = Some(now);
                if e.fault == Some(Fault::Auth) || e.fault == Some(Fault::Quota) {
                    resolve(e, now);
                }
            }
        });
    }

    pub(crate) fn fault(&self, id: &ConnectionId, fault: &ChannelFault) {
        self.with(id, |e, now| {
            let of_class = match fault.class {
                FaultClass::Auth => Code::ProviderAuthError,
                FaultClass::MissingScope => Code::MissingScope,
                FaultClass::Config => Code::ConfigError,
                FaultClass::Quota => Code::ProviderQuotaExhausted,
                FaultClass::RateLimited => Code::ProviderRateLimited,
                _ => Code::ProviderNetworkError,
            };
            let code = Code::parse(&fault.code).unwrap_or(of_class);
            match fault.class {
                FaultClass::Auth => e.fault = Some(Fault::Auth),
                FaultClass::MissingScope => e.fault = Some(Fault::Scope),
                FaultClass::Config => e.fault = Some(Fault::Config),
                FaultClass::Quota => e.fault = Some(Fault::Quota),
                FaultClass::RateLimited => {
                    let wait = i64::try_from(fault.retry_after_ms.unwrap_or(30_000)).unwrap_or(30_000);
                    e.rate_until = Some(now.plus_ms(wait));
                }
                FaultClass::Retryable | FaultClass::Unknown | FaultClass::Permanent => {
                    e.network_failed = code != Code::Internal;
                }
            }
            e.last_error = Some(last_error(code, &fault.to_string(), now));
        });
    }

    pub(crate) fn waiting(&self, id: &ConnectionId, wait: Duration) {
        self.with(id, |e, now| {
            e.attempt_running = false;
            e.waiting_until = Some(now.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)));
        });
    }

    pub(crate) fn session_ended(&self, id: &ConnectionId) {
        self.with(id, |e, _| {
            e.registered = false;
            e.sockets = 0;
        });
    }

    pub(crate) fn sockets(&self, id: &ConnectionId, open: u32) {
        self.with(id, |e, _| e.sockets = open);
    }

    pub(crate) fn foreign(&self, id: &ConnectionId, total: u32) {
        self.with(id, |e, _| e.foreign = Some(total));
    }

    pub(crate) fn deaf(&self, id: &ConnectionId, deaf: bool) {
        self.with(id, |e, _| e.deaf = deaf);
    }

    pub(crate) fn stalled(&self, id: &ConnectionId, stalled: bool) {
        self.with(id, |e, _| e.stalled = stalled);
    }

    pub(crate) fn event_seen(&self, id: &ConnectionId, at: Timestamp, judged: &[Judged]) {
        let accepted = judged.iter().any(|j| matches!(j.decision, Decision::Queued | Decision::Pending));
        self.with(id, |e, _| {
            e.last_event_at = Some(at);
            if accepted {
                e.last_accepted_at = Some(at);
            }
        });
    }

    pub(crate) fn panicked(&self, id: &ConnectionId, why: &str) {
        self.with(id, |e, now| {
            e.registered = false;
            e.attempt_running = false;
            e.last_error = Some(last_error(Code::Internal, &format!("the gateway panicked: {why}"), now));
        });
    }

    pub(crate) fn stopped(&self, id: &ConnectionId) {
        self.with(id, |e, _| {
            e.registered = false;
            e.attempt_running = false;
            e.fence = None;
            e.waiting_until = None;
        });
    }

    /// Health of a Connection now.
    pub(crate) fn health(&self, id: &ConnectionId, draining: bool) -> ConnectionHealth {
        let now = self.clock.now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.entry(id.clone()).or_default();
        note_state(entry, now);
        let (state, reason) = state(&input(entry, now, draining));
        ConnectionHealth {
            state,
            reason,
            since: entry.since.map(|(_, at)| at),
            down_since: entry.down_since,
            proved_alive_at: entry.proof.map(|(_, at, _)| at),
            proof: entry.proof.map(|(proof, _, _)| proof),
            proved_alive_seconds_ago: entry.proof.map(|(_, _, at)| at.elapsed().as_secs()),
            last_event_at: entry.last_event_at,
            last_accepted_at: entry.last_accepted_at,
            last_sent_at: entry.last_sent_at,
            fence: entry.fence,
            session_started_at: entry.session_started_at,
            restarts: entry.restarts,
            attempt: entry.attempt,
            next_attempt_at: entry.waiting_until,
            rate_limited_until: entry.rate_until.filter(|until| *until > now),
            sockets: entry.sockets,
            foreign: entry.foreign,
            scopes: entry.scopes.clone(),
            missing_scopes: entry.missing_scopes.clone(),
            last_error: entry.last_error.clone(),
            last_error_resolved_at: entry.last_error_resolved_at,
        }
    }
}

fn last_error(code: Code, message: &str, at: Timestamp) -> LastError {
    LastError { code, message: loom_domain::text::prefix(message, MESSAGE_BYTES_MAX).to_owned(), at }
}

fn resolve(entry: &mut Entry, now: Timestamp) {
    if entry.fault != Some(Fault::Scope) {
        entry.fault = None;
    }
    if entry.last_error.take().is_some() {
        entry.last_error_resolved_at = Some(now);
    }
}

fn input(entry: &Entry, now: Timestamp, draining: bool) -> HealthInput {
    let age = |at: Instant| i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX);
    HealthInput {
        enabled: entry.enabled,
        ever_started: entry.ever_started,
        lease_valid: entry.fence.is_some(),
        lease_lost: entry.lease_lost,
        registered: entry.registered,
        proof_age_ms: entry.proof.map(|(_, _, at)| age(at)),
        window_ms: proof_window_ms(&entry.provider, 0),
        fault: entry.fault,
        rate_stop_ms: entry.rate_until.map_or(0, |until| until.since_ms(now)),
        deaf: entry.deaf,
        stalled: entry.stalled,
        attempt_running: entry.attempt_running,
        waiting_backoff: entry.waiting_until.is_some(),
        network_failed: entry.network_failed,
        draining,
    }
}

/// Keeps since when the state holds, and since when the Connection is down.
fn note_state(entry: &mut Entry, now: Timestamp) {
    let (state, _) = state(&input(entry, now, false));
    if entry.since.is_none_or(|(known, _)| known != state) {
        entry.since = Some((state, now));
    }
    match state {
        ConnectionState::Connected => entry.down_since = None,
        _ if entry.down_since.is_none() => entry.down_since = Some(now),
        _ => {}
    }
}
