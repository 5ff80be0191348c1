//! The state of one lane: tokens, windows, pauses and slots.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::scope::{Pace, Rate, Window};

/// Windows that a lane remembers; beyond it those without a permit inside are dropped.
const WINDOWS_MAX: usize = 1_024;
/// Two permits are never on both borders of a window.
const BORDER: Duration = Duration::from_millis(1);

/// Why a permit is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) until: Instant,
    pub(super) by_reserve: bool,
}

#[derive(Debug)]
pub(super) struct Lane {
    tokens: f64,
    filled_at: Instant,
    windows: HashMap<String, VecDeque<Instant>>,
    held: HashMap<String, Instant>,
    pub(super) paused_until: Option<Instant>,
    pub(super) strikes: u32,
    pub(super) slots: Arc<Semaphore>,
}

impl Lane {
    pub(super) fn new(pace: &Pace) -> Self {
        Lane {
            tokens: f64::from(pace.bucket.map_or(1, |rate| rate.burst.max(1))),
            filled_at: Instant::now(),
            windows: HashMap::new(),
            held: HashMap::new(),
            paused_until: None,
            strikes: 0,
            slots: Arc::new(Semaphore::new(usize::try_from(pace.concurrency.max(1)).unwrap_or(1))),
        }
    }

    /// Whether the lane holds anything that a new one would not know.
    pub(super) fn is_busy(&self) -> bool {
        let now = Instant::now();
        let recent =
            |times: &VecDeque<Instant>| times.back().is_some_and(|t| now.duration_since(*t).as_secs() < 60);
        Arc::strong_count(&self.slots) > 1
            || self.paused_until.is_some_and(|until| until > now)
            || self.held.values().any(|until| *until > now)
            || self.windows.values().any(recent)
    }

    pub(super) fn hold(&mut self, resource: &str, until: Instant) {
        let now = Instant::now();
        self.held.retain(|_, until| *until > now);
        if self.held.len() < WINDOWS_MAX {
            self.held.insert(resource.to_owned(), until);
        }
    }

    /// The pause of the lane, if there is one.
    pub(super) fn paused(&self) -> Option<Held> {
        let until = self.paused_until.filter(|until| *until > Instant::now())?;
        Some(Held { until, by_reserve: false })
    }

    /// Takes a permit out of the bucket and every window, or tells when to ask again and takes none.
    pub(super) fn take(&mut self, pace: &Pace) -> Option<Held> {
        let now = Instant::now();
        let held = |until: &Instant, by_reserve| Held { until: *until, by_reserve };
        if let Some(pause) = self.paused() {
            return Some(pause);
        }
        if let Some(until) = self.held.get(pace.resource).filter(|until| **until > now) {
            return Some(held(until, true));
        }
        let windows = pace.windows.iter().filter_map(|window| self.window_free_at(window, now));
        if let Some(until) = windows.max() {
            return Some(held(&until, false));
        }
        if let Some(until) = pace.bucket.and_then(|rate| self.take_token(rate, now)) {
            return Some(held(&until, false));
        }
        self.note(&pace.windows, now);
        None
    }

    fn take_token(&mut self, rate: Rate, now: Instant) -> Option<Instant> {
        let gained = now.duration_since(self.filled_at).as_secs_f64() * rate.per_second;
        self.tokens = (self.tokens + gained).min(f64::from(rate.burst.max(1)));
        self.filled_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return None;
        }
        let missing = (1.0 - self.tokens) / rate.per_second.max(0.001);
        Some(now + Duration::from_secs_f64(missing) + BORDER)
    }

    /// When a full window has room again; `None` if it has now.
    fn window_free_at(&self, window: &Window, now: Instant) -> Option<Instant> {
        let times = self.windows.get(&window.name)?;
        let most = usize::try_from(window.most).unwrap_or(usize::MAX);
        let oldest = times.len().checked_sub(most).and_then(|index| times.get(index))?;
        Some(*oldest + window.within + BORDER).filter(|free| *free > now)
    }

    fn note(&mut self, windows: &[Window], now: Instant) {
        if self.windows.len() >= WINDOWS_MAX {
            self.windows
                .retain(|_, times| times.back().is_some_and(|t| now.duration_since(*t).as_secs() < 60));
        }
        for window in windows {
            let times = self.windows.entry(window.name.clone()).or_default();
            times.push_back(now);
            while times.len() > usize::try_from(window.most).unwrap_or(usize::MAX) {
                times.pop_front();
            }
        }
    }
}
