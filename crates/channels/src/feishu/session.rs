//! A session that only sends: it proves that the app and the platform are there, and receives nothing.

use std::time::Duration;

use loom_domain::connection::Proof;

use super::Inner;
use crate::{FaultClass, Session, SessionEnd};

/// Time between two proofs.
pub(super) const PROBE_EVERY: Duration = Duration::from_mins(1);
/// Proofs in a row that may fail on the network before the session ends.
const FAILURES_MAX: u32 = 2;

/// Serves until the session ends. The caller begins anew.
pub(super) async fn serve(inner: &Inner, session: Session) -> SessionEnd {
    session.monitor.connecting();
    let first = tokio::select! {
        () = session.stop.cancelled() => return SessionEnd::Stopped,
        first = inner.identify() => first,
    };
    if let Err(fault) = first {
        return SessionEnd::Failed(fault);
    }
    session.monitor.registered(0);
    session.monitor.alive(Proof::Probe);
    let mut failures = 0;
    loop {
        tokio::select! {
            () = session.stop.cancelled() => return SessionEnd::Stopped,
            () = session.reconnect.notified() => return SessionEnd::Reconnect,
            () = tokio::time::sleep(PROBE_EVERY) => {}
        }
        let probed = tokio::select! {
            () = session.stop.cancelled() => return SessionEnd::Stopped,
            probed = inner.identify() => probed,
        };
        match probed {
            Ok(_) => {
                failures = 0;
                session.monitor.alive(Proof::Probe);
            }
            Err(fault) => {
                failures += 1;
                if ends_after(fault.class, failures) {
                    return SessionEnd::Failed(fault);
                }
                session.monitor.fault(&fault);
            }
        }
    }
}

/// Whether a failed proof ends the session: at once when the app was refused, else when it failed again.
pub(super) fn ends_after(class: FaultClass, failures: u32) -> bool {
    matches!(class, FaultClass::Auth | FaultClass::Config) || failures >= FAILURES_MAX
}
