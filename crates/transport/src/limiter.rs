//! One limiter set per process: rates, a concurrency cap and pauses per (scope, credential fingerprint).

mod lane;
mod shared;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Code, Error, Result, Timestamp};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::scope::{Pace, Profile};
use lane::{Held, Lane};
use shared::{Answer, SharedWindow};

/// Most (scope, fingerprint) pairs that are remembered; idle ones are dropped first.
const LANES_MAX: usize = 4_096;
/// First and longest pause after a refusal of the SEC.
const SEC_PAUSE: (Duration, Duration) = (Duration::from_secs(600), Duration::from_secs(3_600));

/// A permit for one attempt; its concurrency slot is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    _slot: OwnedSemaphorePermit,
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
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    lanes: Mutex<HashMap<(String, String), Lane>>,
    sec: Option<SharedWindow>,
}

impl Limiter {
    /// Shares the SEC's window with the other processes that use this directory.
    pub(crate) fn shared(dir: Option<&Path>) -> Self {
        Limiter { lanes: Mutex::default(), sec: dir.map(SharedWindow::new) }
    }

    /// Waits for a permit, at most until `deadline`. `now` is the wall clock, which processes share.
    pub(crate) async fn acquire(
        &self,
        key: &LaneKey,
        deadline: Instant,
        now: impl Fn() -> Timestamp,
    ) -> Result<Permit> {
        let start = Instant::now();
        let slots = self.with_lane(key, |lane| Arc::clone(&lane.slots));
        let slot = tokio::time::timeout_at(deadline, slots.acquire_owned()).await;
        let Ok(Ok(slot)) = slot else { return Err(limited(deadline - start)) };
        loop {
            let Some(wait) = self.take(key, now()).await else { break };
            if wait.until > deadline {
                let error = limited(wait.until.saturating_duration_since(Instant::now()));
                return Err(if wait.by_reserve { error.with_detail("reason", "reserve") } else { error });
            }
            tokio::time::sleep_until(wait.until).await;
        }
        Ok(Permit { _slot: slot, waited: start.elapsed() })
    }

    /// Takes a permit, or tells when to ask again.
    async fn take(&self, key: &LaneKey, now: Timestamp) -> Option<Held> {
        if let Some(shared) = self.sec.as_ref().filter(|_| key.profile == Profile::Sec) {
            if let Some(held) = self.with_lane(key, |lane| lane.paused()) {
                return Some(held);
            }
            match shared.take(now).await {
                Answer::Go => return None,
                Answer::Wait(wait) => return Some(Held { until: Instant::now() + wait, by_reserve: false }),
                Answer::Unusable => {}
            }
        }
        self.with_lane(key, |lane| lane.take(&key.pace))
    }

    /// Lets nobody pass in this lane for that long. A pause is never shortened.
    pub(crate) fn pause(&self, key: &LaneKey, wait: Duration) {
        let until = Instant::now() + wait;
        self.with_lane(key, |lane| lane.paused_until = lane.paused_until.max(Some(until)));
    }

    /// Pauses after a refusal of the SEC: 600 s at first, then doubled up to 3,600 s, for every process.
    pub(crate) async fn pause_sec(&self, key: &LaneKey, asked: Option<Duration>, now: Timestamp) {
        let (first, most) = SEC_PAUSE;
        let doubled = self.with_lane(key, |lane| {
            let strikes = lane.strikes;
            lane.strikes = strikes.saturating_add(1);
            first.saturating_mul(2_u32.saturating_pow(strikes)).min(most)
        });
        let wait = doubled.max(asked.unwrap_or_default());
        self.pause(key, wait);
        if let Some(shared) = &self.sec {
            shared.pause(now, wait).await;
        }
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
