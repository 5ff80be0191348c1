//! Waits between attempts to connect (messaging specification 6.4).

use std::time::Duration;

use loom_domain::outbox::schedule::reconnect_wait_ms;
use tokio::time::Instant;

/// Proven life after which the counter starts again.
const SETTLED: Duration = Duration::from_secs(60);
/// Wait after a fault that only a change of settings can mend.
const SETTINGS_WAIT: Duration = Duration::from_secs(15 * 60);

/// Counts attempts of one gateway.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempt: u32,
    connected_at: Option<Instant>,
}

impl Backoff {
    /// Attempts since the last settled session.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The session is registered.
    pub(crate) fn connected(&mut self) {
        self.connected_at = Some(Instant::now());
    }

    /// The wait before the next attempt.
    pub(crate) fn next(&mut self, random: u64) -> Duration {
        if self.connected_at.take().is_some_and(|at| at.elapsed() >= SETTLED) {
            self.attempt = 0;
        }
        self.attempt = self.attempt.saturating_add(1);
        Duration::from_millis(u64::try_from(reconnect_wait_ms(self.attempt, random)).unwrap_or(60_000))
    }

    /// The wait after a fault of credential or settings.
    pub(crate) fn settings() -> Duration {
        SETTINGS_WAIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-216: the gap never exceeds 72 s.
    #[test]
    fn msg_216_a_hundred_failures_never_wait_longer_than_72_s() {
        let mut backoff = Backoff::default();
        for n in 0..100_u64 {
            let wait = backoff.next(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            assert!(wait <= Duration::from_secs(72), "{wait:?}");
        }
        assert_eq!(backoff.attempt(), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn the_counter_starts_again_after_a_minute_of_life() {
        let mut backoff = Backoff::default();
        for _ in 0..5 {
            backoff.next(0);
        }
        backoff.connected();
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(backoff.next(0) <= Duration::from_millis(1_200));
    }
}
