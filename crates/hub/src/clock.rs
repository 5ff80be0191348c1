//! The clocks of the hub: wall time for records, monotonic time for waits.

use std::time::Duration;

use loom_domain::Timestamp;
use tokio::time::Instant;

/// Wall clock.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Present wall time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock for the hub")]
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// Largest difference between the two clocks that is not a jump.
const JUMP: Duration = Duration::from_secs(30);

/// Compares wall and monotonic time to notice sleep and clock changes.
#[derive(Debug)]
pub struct JumpDetector {
    wall: Timestamp,
    monotonic: Instant,
}

impl JumpDetector {
    /// Starts at the present.
    pub fn new(clock: &dyn Clock) -> Self {
        JumpDetector { wall: clock.now(), monotonic: Instant::now() }
    }

    /// Whether wall time moved more than 30 s away from monotonic time since the last call.
    pub fn jumped(&mut self, clock: &dyn Clock) -> bool {
        let (wall, monotonic) = (clock.now(), Instant::now());
        let passed = i64::try_from(monotonic.duration_since(self.monotonic).as_millis()).unwrap_or(i64::MAX);
        let drift = wall.0.saturating_sub(self.wall.0).saturating_sub(passed).unsigned_abs();
        (self.wall, self.monotonic) = (wall, monotonic);
        Duration::from_millis(drift) > JUMP
    }
}
