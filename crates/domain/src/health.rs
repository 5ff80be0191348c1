//! The state of a Connection, told truthfully (messaging specification 6.3): silence alone is no fault, and
//! nothing but proof of life makes `connected`.

use crate::connection::{ConnectionReason as Reason, ConnectionState as State};

/// Rate stops up to this long do not degrade, milliseconds.
pub const RATE_STOP_QUIET_MS: i64 = 60_000;
/// Age of ready work for an idle Agent at which the dispatcher counts as stalled, milliseconds.
pub const STALLED_MS: i64 = 60_000;
/// Age of an unseen message at which the link counts as deaf, milliseconds.
pub const DEAF_MS: i64 = 30_000;
/// Windows of overdue proof after which a session counts as dead.
const DEAD_WINDOWS: i64 = 2;

/// A connection-wide fault that lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The credential was refused.
    Auth,
    /// The app is not set up for this.
    Config,
    /// A scope is missing.
    Scope,
    /// A quota is used up.
    Quota,
}

impl Fault {
    const fn reason(self) -> Reason {
        match self {
            Fault::Auth => Reason::AuthFailed,
            Fault::Config => Reason::ConfigError,
            Fault::Scope => Reason::MissingScope,
            Fault::Quota => Reason::Quota,
        }
    }
}

/// What is known of a Connection now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a hidden state")]
pub struct HealthInput {
    /// Enabled and not archived.
    pub enabled: bool,
    /// A gateway ever opened a session.
    pub ever_started: bool,
    /// A gateway owns the session lease.
    pub lease_valid: bool,
    /// The lease went to another owner.
    pub lease_lost: bool,
    /// Platform hello and registration are done.
    pub registered: bool,
    /// Age of the newest proof of life, milliseconds.
    pub proof_age_ms: Option<i64>,
    /// Window within which proof is due, milliseconds; none for a passive provider.
    pub window_ms: Option<i64>,
    /// Unresolved fault.
    pub fault: Option<Fault>,
    /// Rest of a connection-wide rate stop, milliseconds.
    pub rate_stop_ms: i64,
    /// The history probe found messages that never came.
    pub deaf: bool,
    /// Ready work is not taken.
    pub stalled: bool,
    /// An attempt to connect runs.
    pub attempt_running: bool,
    /// The next attempt waits.
    pub waiting_backoff: bool,
    /// The newest attempt failed on the network.
    pub network_failed: bool,
    /// The hub is shutting down.
    pub draining: bool,
}

/// Window of proof of a provider, milliseconds. `interval_ms` is the ping interval that the platform gave.
#[must_use]
pub fn proof_window_ms(provider: &str, interval_ms: i64) -> Option<i64> {
    let interval_ms = interval_ms.max(0);
    match provider {
        "slack" => Some(30_000),
        // A gateway that only sends has no interval of the platform's; it asks once a minute.
        "feishu" if interval_ms == 0 => Some(90_000),
        "feishu" => Some(interval_ms.min(120_000).saturating_add(30_000)),
        "parall" => Some(interval_ms.max(5_000).saturating_mul(2).saturating_add(10_000)),
        "webhook" => None,
        _ => Some(15_000),
    }
}

/// State and reason.
#[must_use]
pub fn state(input: &HealthInput) -> (State, Reason) {
    if !input.enabled {
        let reason = if input.draining { Reason::Draining } else { Reason::NoGateway };
        return (State::Disabled, reason);
    }
    let has_session = input.lease_valid && input.registered;
    match proof(input) {
        Proof::Fresh if has_session => match degrading(input) {
            None => (State::Connected, Reason::Ok),
            Some(reason) => (State::Degraded, reason),
        },
        Proof::Overdue if has_session => (State::Degraded, degrading(input).unwrap_or(Reason::ProofOverdue)),
        _ if input.attempt_running && !input.draining => (State::Connecting, down_reason(input)),
        _ => (State::Disconnected, down_reason(input)),
    }
}

enum Proof {
    Fresh,
    Overdue,
    Dead,
}

fn proof(input: &HealthInput) -> Proof {
    let Some(window_ms) = input.window_ms else { return Proof::Fresh };
    match input.proof_age_ms {
        Some(age_ms) if age_ms <= window_ms => Proof::Fresh,
        Some(age_ms) if age_ms - window_ms < window_ms.saturating_mul(DEAD_WINDOWS) => Proof::Overdue,
        _ => Proof::Dead,
    }
}

/// What keeps a session from counting as connected, worst first.
fn degrading(input: &HealthInput) -> Option<Reason> {
    if let Some(fault) = input.fault {
        return Some(fault.reason());
    }
    [
        (input.deaf, Reason::Deaf),
        (input.stalled, Reason::Stalled),
        (input.rate_stop_ms > RATE_STOP_QUIET_MS, Reason::RateLimited),
        (input.draining, Reason::Draining),
    ]
    .into_iter()
    .find_map(|(holds, reason)| holds.then_some(reason))
}

fn down_reason(input: &HealthInput) -> Reason {
    let has_session = input.lease_valid && input.registered;
    if let Some(fault) = input.fault {
        return fault.reason();
    }
    [
        (input.draining, Reason::Draining),
        (input.lease_lost, Reason::LeaseLost),
        (has_session, Reason::ProofOverdue),
        (input.network_failed, Reason::Network),
        (input.waiting_backoff, Reason::WaitingBackoff),
        (!input.ever_started, Reason::NeverStarted),
    ]
    .into_iter()
    .find_map(|(holds, reason)| holds.then_some(reason))
    .unwrap_or(Reason::NoGateway)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn up() -> HealthInput {
        HealthInput {
            enabled: true,
            ever_started: true,
            lease_valid: true,
            registered: true,
            proof_age_ms: Some(4_000),
            window_ms: Some(30_000),
            ..HealthInput::default()
        }
    }

    #[test]
    fn states_are_told_truthfully() {
        assert_eq!(state(&up()), (State::Connected, Reason::Ok));
        let cases = [
            (HealthInput { enabled: false, ..up() }, State::Disabled, Reason::NoGateway),
            (HealthInput { proof_age_ms: Some(31_000), ..up() }, State::Degraded, Reason::ProofOverdue),
            (HealthInput { proof_age_ms: Some(90_000), ..up() }, State::Disconnected, Reason::ProofOverdue),
            (HealthInput { proof_age_ms: None, ..up() }, State::Disconnected, Reason::ProofOverdue),
            (HealthInput { fault: Some(Fault::Scope), ..up() }, State::Degraded, Reason::MissingScope),
            (HealthInput { deaf: true, ..up() }, State::Degraded, Reason::Deaf),
            (HealthInput { stalled: true, ..up() }, State::Degraded, Reason::Stalled),
            (HealthInput { rate_stop_ms: 60_000, ..up() }, State::Connected, Reason::Ok),
            (HealthInput { rate_stop_ms: 60_001, ..up() }, State::Degraded, Reason::RateLimited),
            (HealthInput { window_ms: None, proof_age_ms: None, ..up() }, State::Connected, Reason::Ok),
            (
                HealthInput { enabled: true, ..HealthInput::default() },
                State::Disconnected,
                Reason::NeverStarted,
            ),
        ];
        for (input, want, reason) in cases {
            assert_eq!(state(&input), (want, reason), "{input:?}");
        }
    }

    #[test]
    fn windows_follow_the_platform() {
        assert_eq!(proof_window_ms("feishu", 90_000), Some(120_000));
        assert_eq!(proof_window_ms("parall", 1_000), Some(20_000));
        assert_eq!(proof_window_ms("webhook", 0), None);
    }

    proptest! {
        /// Neither a lease nor a registration nor an old proof alone ever makes `connected`.
        #[test]
        fn nothing_but_proof_makes_connected(flags in any::<[bool; 6]>(), age in proptest::option::of(0i64..200_000)) {
            let input = HealthInput {
                enabled: flags[0],
                lease_valid: flags[1],
                registered: flags[2],
                attempt_running: flags[3],
                deaf: flags[4],
                waiting_backoff: flags[5],
                proof_age_ms: age,
                window_ms: Some(30_000),
                ..HealthInput::default()
            };
            let is_alive = flags[0] && flags[1] && flags[2] && !flags[4] && age.is_some_and(|age| age <= 30_000);
            prop_assert_eq!(state(&input).0 == State::Connected, is_alive);
        }
    }
}
