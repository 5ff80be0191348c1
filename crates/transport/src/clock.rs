//! Wall clock and randomness, as arguments of the transport.

use std::fmt::Debug;

use loom_domain::Timestamp;

/// The wall clock: log times and `Retry-After` dates. Timers use the monotonic clock of tokio.
pub trait Clock: Send + Sync + Debug {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// The clock of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the default clock; callers pass the hub's clock instead")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A source of random bits: ids, jitter and multipart boundaries.
pub trait Entropy: Send + Sync + Debug {
    /// The next 128 random bits.
    fn bits(&self) -> u128;
}

/// Randomness of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn bits(&self) -> u128 {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        u128::from_le_bytes(bytes)
    }
}

/// A share in `[0, 1)` out of random bits.
pub(crate) fn fraction(bits: u128) -> f64 {
    let low = u32::try_from(bits & u128::from(u32::MAX)).unwrap_or(0);
    f64::from(low) / (f64::from(u32::MAX) + 1.0)
}
