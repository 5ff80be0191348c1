//! The twin's only reading of the wall clock: message timestamps look like a provider's.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "a twin stands for a remote service, which has its own clock")]
pub(crate) fn now_micros() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX))
}
