//! One limiter set per process: a token bucket, a concurrency cap and pauses per (scope, credential fingerprint).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Most (scope, fingerprint) pairs that are remembered; idle ones are dropped first.
const LANES_MAX: usize = 4_096;

/// Rate, burst and concurrency of a scope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Permits per second.
    pub per_second: f64,
    /// Permits that may be taken at once after a rest.
    pub burst: u32,
    /// Requests in flight.
    pub concurrency: u32,
}

impl Rate {
    /// Any host without a scope of its own.
    pub const HOST: Rate = Rate { per_second: 10.0, burst: 20, concurrency: 8 };
    /// Loopback local origins.
    pub const LOCAL: Rate = Rate { per_second: 500.0, burst: 500, concurrency: 64 };
}

#[derive(Debug)]
struct Lane {
    tokens: f64,
    filled_at: Instant,
    paused_until: Option<Instant>,
    slots: Arc<Semaphore>,
}

/// A permit for one attempt; its concurrency slot is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    _slot: OwnedSemaphorePermit,
    pub(crate) waited: Duration,
}

/// The limiter set.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    lanes: Mutex<HashMap<(String, String), Lane>>,
}

/// Which lane a request uses.
#[derive(Debug, Clone)]
pub(crate) struct LaneKey {
    pub(crate) scope: String,
    pub(crate) fingerprint: String,
    pub(crate) rate: Rate,
}

impl Limiter {
    /// Waits for a permit, at most until `deadline`.
    pub(crate) async fn acquire(&self, key: &LaneKey, deadline: Instant) -> Result<Permit> {
        let start = Instant::now();
        let slots = self.with_lane(key, |lane| Arc::clone(&lane.slots));
        let slot = tokio::time::timeout_at(deadline, slots.acquire_owned()).await;
        let Ok(Ok(slot)) = slot else { return Err(limited(deadline - start)) };
        while let Some(ready_at) = self.with_lane(key, |lane| lane.take(key.rate)) {
            if ready_at > deadline {
                return Err(limited(ready_at - Instant::now()));
            }
            tokio::time::sleep_until(ready_at).await;
        }
        Ok(Permit { _slot: slot, waited: start.elapsed() })
    }

    /// Lets nobody pass in this lane until then. A pause is never shortened.
    pub(crate) fn pause(&self, key: &LaneKey, until: Instant) {
        self.with_lane(key, |lane| lane.paused_until = lane.paused_until.max(Some(until)));
    }

    fn with_lane<T>(&self, key: &LaneKey, act: impl FnOnce(&mut Lane) -> T) -> T {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.len() >= LANES_MAX {
            let now = Instant::now();
            lanes.retain(|_, lane| {
                Arc::strong_count(&lane.slots) > 1 || lane.paused_until.is_some_and(|t| t > now)
            });
        }
        let id = (key.scope.clone(), key.fingerprint.clone());
        act(lanes.entry(id).or_insert_with(|| Lane::new(key.rate)))
    }
}

impl Lane {
    fn new(rate: Rate) -> Self {
        Lane {
            tokens: f64::from(rate.burst.max(1)),
            filled_at: Instant::now(),
            paused_until: None,
            slots: Arc::new(Semaphore::new(usize::try_from(rate.concurrency.max(1)).unwrap_or(1))),
        }
    }

    /// Takes a token, or tells when to ask again.
    fn take(&mut self, rate: Rate) -> Option<Instant> {
        let now = Instant::now();
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            return Some(until);
        }
        let gained = now.duration_since(self.filled_at).as_secs_f64() * rate.per_second;
        self.tokens = (self.tokens + gained).min(f64::from(rate.burst.max(1)));
        self.filled_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return None;
        }
        let missing = (1.0 - self.tokens) / rate.per_second.max(0.001);
        Some(now + Duration::from_secs_f64(missing) + Duration::from_millis(1))
    }
}

fn limited(wait: Duration) -> Error {
    let mut error = Error::new(Code::ProviderRateLimited, "no permit of the local limiter in time")
        .with_detail("limited_by", "local");
    error.retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scope: &str, rate: Rate) -> LaneKey {
        LaneKey { scope: scope.to_owned(), fingerprint: String::new(), rate }
    }

    #[tokio::test(start_paused = true)]
    async fn burst_passes_at_once_and_the_next_waits_for_its_token() {
        let (limiter, key) =
            (Limiter::default(), key("a", Rate { per_second: 2.0, burst: 3, concurrency: 9 }));
        let start = Instant::now();
        for _ in 0..5 {
            limiter.acquire(&key, start + Duration::from_secs(9)).await.unwrap();
        }
        let took = start.elapsed().as_millis();
        assert!((1_000..1_050).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_one_scope_and_no_other() {
        let (limiter, start) = (Limiter::default(), Instant::now());
        let (a, b) = (key("a", Rate::HOST), key("b", Rate::HOST));
        limiter.pause(&a, start + Duration::from_secs(30));
        assert_eq!(limiter.acquire(&b, start).await.unwrap().waited, Duration::ZERO);
        let error = limiter.acquire(&a, start + Duration::from_secs(10)).await.unwrap_err();
        assert_eq!(error.code, Code::ProviderRateLimited);
        assert_eq!(error.detail["limited_by"], "local");
        let permit = limiter.acquire(&a, start + Duration::from_secs(60)).await.unwrap();
        assert_eq!(permit.waited, Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn concurrency_frees_its_slot_on_drop() {
        let (limiter, start) = (Limiter::default(), Instant::now());
        let key = key("a", Rate { per_second: 100.0, burst: 100, concurrency: 1 });
        let first = limiter.acquire(&key, start).await.unwrap();
        assert!(limiter.acquire(&key, start + Duration::from_secs(1)).await.is_err());
        drop(first);
        assert!(limiter.acquire(&key, start + Duration::from_secs(2)).await.is_ok());
    }
}
