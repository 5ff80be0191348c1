//! How a long read keeps to GitHub's limits (capabilities specification 6.5).
//!
//! Sources: «Rate limits for the REST API», section «Exceeding the rate limit», and «Best practices for using the REST
//! API», section «Handle rate limit errors appropriately»: wait for `retry-after`, else for `x-ratelimit-reset` when
//! nothing is left, else a minute at least and longer each time.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// First wait after a secondary limit that does not say how long.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);
/// Longest of these waits.
const SECONDARY_WAIT_MAX: Duration = Duration::from_secs(900);
/// Secondary limits in a row before a run gives up.
const STRIKES_MAX: u32 = 6;
/// How long half of the requests at once are left out after a secondary limit.
const SLOW_FOR: Duration = Duration::from_secs(600);
/// A window ends on a whole second, and clocks differ a little.
const BORDER: Duration = Duration::from_millis(100);

/// How much a run puts up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// Requests in flight.
    pub(crate) concurrency: u32,
    /// Longest wait for the end of a window; none ends the run there.
    pub(crate) reset_wait_max: Option<Duration>,
}

#[derive(Debug, Default)]
struct State {
    blocked_until: Option<Instant>,
    slow_until: Option<Instant>,
    strikes: u32,
    given_up: Option<Error>,
}

/// Slots and pauses of one run.
#[derive(Debug)]
pub(crate) struct Pacing {
    patience: Patience,
    slots: Semaphore,
    state: Mutex<State>,
    gave_up: Notify,
}

impl Pacing {
    pub(crate) fn new(patience: Patience) -> Self {
        let slots = usize::try_from(patience.concurrency.max(1)).unwrap_or(1);
        Pacing { patience, slots: Semaphore::new(slots), state: Mutex::default(), gave_up: Notify::new() }
    }

    /// Makes attempts until one is not throttled, or the limit says that the run has to end.
    pub(crate) async fn paced<T, F: Future<Output = Result<T>> + Send>(
        &self,
        mut attempt: impl FnMut() -> F + Send,
    ) -> Result<T> {
        loop {
            let slot = self.slot().await?;
            let outcome = Box::pin(attempt()).await;
            drop(slot);
            match outcome {
                Err(error) if error.code == Code::ProviderRateLimited => self.limited(error)?,
                outcome => {
                    self.lock().strikes = 0;
                    return outcome;
                }
            }
        }
    }

    /// Ends with the error of a limit that is not waited for.
    pub(crate) async fn given_up(&self) -> Error {
        loop {
            let waiting = self.gave_up.notified();
            if let Some(error) = self.lock().given_up.clone() {
                return error;
            }
            waiting.await;
        }
    }

    /// A slot for one request, after every pause. A slow run takes two of them for each.
    async fn slot(&self) -> Result<SemaphorePermit<'_>> {
        loop {
            let wanted = if self.is_slow() { 2_u32.min(self.patience.concurrency.max(1)) } else { 1 };
            let slot = self.slots.acquire_many(wanted).await.map_err(Error::internal)?;
            let until = {
                let state = self.lock();
                if let Some(error) = &state.given_up {
                    return Err(error.clone());
                }
                state.blocked_until.filter(|until| *until > Instant::now())
            };
            let Some(until) = until else { return Ok(slot) };
            drop(slot);
            tokio::time::sleep_until(until).await;
        }
    }

    fn is_slow(&self) -> bool {
        self.lock().slow_until.is_some_and(|until| until > Instant::now())
    }

    /// Notes a limit: a pause for everyone, or the end.
    fn limited(&self, error: Error) -> Result<()> {
        let mut state = self.lock();
        let now = Instant::now();
        let is_known = state.blocked_until.is_some_and(|until| until > now);
        let told = error.retry_after_ms.map(Duration::from_millis);
        let wait = if is_primary(&error) {
            let wait = told.unwrap_or(SECONDARY_WAIT);
            self.patience.reset_wait_max.filter(|most| wait <= *most).map(|_| wait + BORDER)
        } else {
            // Requests that were in flight together meet one and the same limit.
            if !is_known {
                state.strikes += 1;
                state.slow_until = Some(now + SLOW_FOR);
            }
            let is_told = error.detail.get("wait").is_none_or(|wait| wait == "told");
            let wait = told.filter(|_| is_told).unwrap_or_else(|| secondary_wait(state.strikes));
            (state.strikes <= STRIKES_MAX).then_some(wait)
        };
        match wait {
            Some(wait) => {
                state.blocked_until = state.blocked_until.max(Some(now + wait));
                Ok(())
            }
            None => {
                state.given_up.get_or_insert_with(|| error.clone());
                self.gave_up.notify_one();
                Err(error)
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a window is used up, by GitHub's word or by the reserve that Loom keeps.
fn is_primary(error: &Error) -> bool {
    let is = |key: &str, word: &str| error.detail.get(key).is_some_and(|value| value == word);
    is("limit", "primary") || is("reason", "reserve")
}

/// 60 s, doubled each time up to 900 s.
fn secondary_wait(strikes: u32) -> Duration {
    let doubled = SECONDARY_WAIT.saturating_mul(2_u32.saturating_pow(strikes.saturating_sub(1)));
    doubled.min(SECONDARY_WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn refusal(limit: &str, wait: &str, ms: u64) -> Error {
        let mut error = Error::new(Code::ProviderRateLimited, "wait")
            .with_detail("limit", limit)
            .with_detail("wait", wait);
        error.retry_after_ms = Some(ms);
        error
    }

    async fn after(pacing: &Pacing, refusals: Vec<Error>) -> (Result<()>, u64) {
        let start = Instant::now();
        let left = Mutex::new(refusals);
        let outcome = pacing
            .paced(|| {
                let next = left.lock().unwrap().pop();
                async { next.map_or(Ok(()), Err) }
            })
            .await;
        (outcome, start.elapsed().as_secs())
    }

    /// CAP-084: a secondary limit is waited out, as told or 60 s doubled up to 900 s, and ends the run at last.
    #[tokio::test(start_paused = true)]
    async fn cap_084_secondary_limits_are_waited_out() {
        let pacing = Pacing::new(Patience { concurrency: 8, reset_wait_max: None });
        let (outcome, seconds) = after(&pacing, vec![refusal("secondary", "told", 7_000)]).await;
        assert!(outcome.is_ok() && seconds == 7, "{seconds}");
        let three = vec![refusal("secondary", "guessed", 60_000); 3];
        let (outcome, seconds) = after(&pacing, three).await;
        assert!(outcome.is_ok());
        assert_eq!(seconds, 60 + 120 + 240);
        assert_eq!(secondary_wait(9), Duration::from_secs(900));
        let (outcome, _) = after(&pacing, vec![refusal("secondary", "guessed", 60_000); 20]).await;
        assert_eq!(outcome.unwrap_err().code, Code::ProviderRateLimited);
        assert_eq!(pacing.given_up().await.code, Code::ProviderRateLimited);
    }

    /// CAP-084: the end of a window is waited for only if that was asked for.
    #[tokio::test(start_paused = true)]
    async fn cap_084_a_primary_limit_ends_the_run_unless_it_may_wait() {
        let hasty = Pacing::new(Patience { concurrency: 8, reset_wait_max: None });
        let (outcome, seconds) = after(&hasty, vec![refusal("primary", "told", 1_200_000)]).await;
        assert_eq!((outcome.unwrap_err().code, seconds), (Code::ProviderRateLimited, 0));
        let patient =
            Pacing::new(Patience { concurrency: 8, reset_wait_max: Some(Duration::from_secs(1_800)) });
        let (outcome, seconds) = after(&patient, vec![refusal("primary", "told", 1_200_000)]).await;
        assert!(outcome.is_ok() && seconds == 1_200);
        let (outcome, _) = after(&patient, vec![refusal("primary", "told", 1_900_000)]).await;
        assert!(outcome.is_err(), "longer than it may wait");
    }

    #[tokio::test(start_paused = true)]
    async fn half_of_the_requests_at_once_are_left_out_after_a_secondary_limit() {
        let pacing = Pacing::new(Patience { concurrency: 8, reset_wait_max: None });
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let busy = || async {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(50)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        };
        futures_util::future::join_all((0..40).map(|_| pacing.paced(busy))).await;
        assert_eq!(most.swap(0, Ordering::SeqCst), 8);
        after(&pacing, vec![refusal("secondary", "told", 1_000)]).await.0.unwrap();
        futures_util::future::join_all((0..40).map(|_| pacing.paced(busy))).await;
        assert_eq!(most.swap(0, Ordering::SeqCst), 4);
        tokio::time::sleep(SLOW_FOR).await;
        futures_util::future::join_all((0..40).map(|_| pacing.paced(busy))).await;
        assert_eq!(most.load(Ordering::SeqCst), 8);
    }
}
