//! Guard 8: a token bucket for each principal.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::RequestLimits;

/// Buckets kept; beyond it the full ones are dropped, which changes nothing for their owners.
const BUCKETS_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// The buckets of all principals.
#[derive(Debug)]
pub(crate) struct Buckets {
    per_s: f64,
    burst: f64,
    of: Mutex<HashMap<String, Bucket>>,
}

impl Buckets {
    /// Makes full buckets.
    pub(crate) fn new(limits: &RequestLimits) -> Self {
        Buckets {
            per_s: f64::from(limits.rate_per_s.max(1)),
            burst: f64::from(limits.rate_burst.max(1)),
            of: Mutex::default(),
        }
    }

    /// Takes one request from the bucket, or says how long to wait for it.
    pub(super) fn take(&self, who: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.of.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, bucket| self.level(*bucket, now) < self.burst);
        }
        let bucket = buckets.entry(who.to_owned()).or_insert(Bucket { left: self.burst, at: now });
        let level = self.level(*bucket, now);
        if level < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - level) / self.per_s));
        }
        *bucket = Bucket { left: level - 1.0, at: now };
        Ok(())
    }

    fn level(&self, bucket: Bucket, now: Instant) -> f64 {
        let gained = now.duration_since(bucket.at).as_secs_f64() * self.per_s;
        (bucket.left + gained).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_then_the_rate() {
        let buckets = Buckets::new(&RequestLimits::default());
        for _ in 0..100 {
            assert!(buckets.take("owner", Instant::now()).is_ok());
        }
        let wait = buckets.take("owner", Instant::now()).unwrap_err();
        assert!(wait <= Duration::from_millis(21));
        assert!(buckets.take("viewer", Instant::now()).is_ok());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..100).filter(|_| buckets.take("owner", Instant::now()).is_ok()).count(), 50);
    }
}
