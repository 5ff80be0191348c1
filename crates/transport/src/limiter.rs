//! One limiter set per process: rates, a concurrency cap and pauses per (scope, credential fingerprint).

mod lane;
mod shared;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::scope::{Pace, Profile};
use lane::{Held, Lane};
use shared::{Answer, SharedWindow, Slot};

/// Most (scope, fingerprint) pairs that are remembered; idle ones are dropped first.
const LANES_MAX: usize = 4_096;
/// First and longest pause after a refusal of the SEC.
const SEC_PAUSE: (Duration, Duration) = (Duration::from_secs(600), Duration::from_secs(3_600));

/// A permit for one attempt; dropped when its answer has come, it frees what it holds.
#[derive(Debug)]
pub(crate) struct Permit {
    _in_flight: OwnedSemaphorePermit,
    _slot: Option<Slot>,
    pub(crate) waited: Duration,
}

/// Which lane a request uses.
#[derive(Debug, Clone)]
pub(crate) struct LaneKey {
    pub(crate) profile: Profile,
    pub(crate) scope: String,
    pub(crate) fingerprint: String,
    pub(crate) pace: Pace,
}

/// The limiter set.
#[derive(Debug)]
pub(crate) struct Limiter {
    lanes: Mutex<HashMap<(String, String), Lane>>,
    sec: SharedWindow,
}

impl Limiter {
    /// Shares the SEC's window with the other processes that use this directory, by their wall clock.
    pub(crate) fn new(dir: Option<&Path>, clock: Arc<dyn Clock>) -> Self {
        Limiter { lanes: Mutex::default(), sec: SharedWindow::new(dir, clock) }
    }

    /// Waits for a permit, at most until `deadline`. A reserve is not waited for: it is there for others.
    pub(crate) async fn acquire(&self, key: &LaneKey, deadline: Instant) -> Result<Permit> {
        let start = Instant::now();
        let slots = self.with_lane(key, |lane| Arc::clone(&lane.slots));
        let in_flight = tokio::time::timeout_at(deadline, slots.acquire_owned()).await;
        let Ok(Ok(in_flight)) = in_flight else { return Err(limited(deadline - start)) };
        loop {
            let wait = match self.take(key).await {
                Ok(slot) => {
                    return Ok(Permit { _in_flight: in_flight, _slot: slot, waited: start.elapsed() });
                }
                Err(wait) => wait,
            };
            if wait.by_reserve || wait.until > deadline {
                let error = limited(wait.until.saturating_duration_since(Instant::now()));
                return Err(if wait.by_reserve { error.with_detail("reason", "reserve") } else { error });
            }
            tokio::time::sleep_until(wait.until).await;
        }
    }

    /// Takes a permit, or tells when to ask again.
    async fn take(&self, key: &LaneKey) -> std::result::Result<Option<Slot>, Held> {
        if let Some(held) = self.with_lane(key, |lane| lane.take(&key.pace)) {
            return Err(held);
        }
        if key.profile != Profile::Sec {
            return Ok(None);
        }
        match self.sec.take().await {
            Answer::Go(slot) => Ok(Some(slot)),
            Answer::Wait(wait) => Err(Held { until: Instant::now() + wait, by_reserve: false }),
        }
    }

    /// Lets nobody pass in this lane for that long. A pause is never shortened.
    pub(crate) fn pause(&self, key: &LaneKey, wait: Duration) {
        let until = Instant::now() + wait;
        self.with_lane(key, |lane| lane.paused_until = lane.paused_until.max(Some(until)));
    }

    /// Pauses after a refusal of the SEC: 600 s at first, then doubled up to 3,600 s, for every process.
    pub(crate) async fn pause_sec(&self, key: &LaneKey, asked: Option<Duration>) {
        let (first, most) = SEC_PAUSE;
        let doubled = self.with_lane(key, |lane| {
            let strikes = lane.strikes;
            lane.strikes = strikes.saturating_add(1);
            first.saturating_mul(2_u32.saturating_pow(strikes)).min(most)
        });
        let wait = doubled.max(asked.unwrap_or_default());
        self.pause(key, wait);
        self.sec.pause(wait).await;
    }

    /// Notes that the provider took a request, so that the next pause is a first one again.
    pub(crate) fn accepted(&self, key: &LaneKey) {
        self.with_lane(key, |lane| lane.strikes = 0);
    }

    /// Lets nobody use one of the provider's own limits for that long.
    pub(crate) fn reserve(&self, key: &LaneKey, resource: &str, wait: Duration) {
        let until = Instant::now() + wait;
        self.with_lane(key, |lane| lane.hold(resource, until));
    }

    /// How long the lane is still paused.
    pub(crate) fn pause_left(&self, key: &LaneKey) -> Option<Duration> {
        let now = Instant::now();
        self.with_lane(key, |lane| lane.paused_until).filter(|until| *until > now).map(|until| until - now)
    }

    fn with_lane<T>(&self, key: &LaneKey, act: impl FnOnce(&mut Lane) -> T) -> T {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.len() >= LANES_MAX {
            lanes.retain(|_, lane| lane.is_busy());
        }
        let id = (key.scope.clone(), key.fingerprint.clone());
        act(lanes.entry(id).or_insert_with(|| Lane::new(&key.pace)))
    }
}

fn limited(wait: Duration) -> Error {
    let mut error = Error::new(Code::ProviderRateLimited, "no permit of the local limiter in time")
        .with_detail("limited_by", "local");
    error.retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    error
}

#[cfg(test)]
mod tests;
