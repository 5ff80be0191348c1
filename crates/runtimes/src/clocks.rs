//! The two clocks of a Turn: an absolute deadline and an idle limit. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// Which clock ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expired {
    /// The absolute deadline.
    Deadline,
    /// Nothing was heard for too long.
    Idle,
}

impl Expired {
    /// Words for the owner.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Expired::Deadline => "the Turn reached its deadline",
            Expired::Idle => "the Turn was silent for too long",
        }
    }
}

/// The clocks of one Turn.
#[derive(Debug, Clone)]
pub(crate) struct Clocks {
    deadline: Instant,
    idle_limit: Duration,
    heard_at: Instant,
    waiting: bool,
}

impl Clocks {
    /// Starts both clocks.
    pub(crate) fn new(deadline: Instant, idle_limit: Duration, now: Instant) -> Self {
        Clocks { deadline, idle_limit, heard_at: now, waiting: false }
    }

    /// A sign of life came.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
    }

    /// Stops the idle clock while the owner is asked, and starts it anew afterwards.
    pub(crate) fn wait_for_owner(&mut self, waiting: bool, now: Instant) {
        self.waiting = waiting;
        self.heard_at = now;
    }

    /// When to look again.
    pub(crate) fn next(&self) -> Instant {
        match self.idle_at() {
            Some(idle_at) => self.deadline.min(idle_at),
            None => self.deadline,
        }
    }

    /// Whether a clock has run out.
    pub(crate) fn expired(&self, now: Instant) -> Option<Expired> {
        if now >= self.deadline {
            return Some(Expired::Deadline);
        }
        self.idle_at().filter(|at| now >= *at).map(|_| Expired::Idle)
    }

    fn idle_at(&self) -> Option<Instant> {
        if self.waiting { None } else { self.heard_at.checked_add(self.idle_limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn rt_6_any_event_resets_the_idle_clock_but_not_the_deadline() {
        let start = Instant::now();
        let mut clocks = Clocks::new(start + 10 * SECOND, 3 * SECOND, start);
        assert_eq!(clocks.expired(start + 2 * SECOND), None);
        clocks.heard(start + 2 * SECOND);
        assert_eq!(clocks.next(), start + 5 * SECOND);
        assert_eq!(clocks.expired(start + 5 * SECOND), Some(Expired::Idle));
        clocks.heard(start + 9 * SECOND);
        assert_eq!(clocks.expired(start + 10 * SECOND), Some(Expired::Deadline));
    }

    #[test]
    fn rt_6_waiting_for_the_owner_stops_the_idle_clock_only() {
        let start = Instant::now();
        let mut clocks = Clocks::new(start + 10 * SECOND, SECOND, start);
        clocks.wait_for_owner(true, start);
        assert_eq!(clocks.expired(start + 9 * SECOND), None);
        clocks.wait_for_owner(false, start + 9 * SECOND);
        assert_eq!(clocks.expired(start + 9 * SECOND), None);
        clocks.wait_for_owner(true, start + 9 * SECOND);
        assert_eq!(clocks.expired(start + 10 * SECOND), Some(Expired::Deadline));
    }
}
