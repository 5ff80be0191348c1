//! A breaker for cosmetic calls (messaging specification 5.7).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::FaultClass;

/// Failures in a row that open the breaker.
const FAILURES_MAX: u32 = 5;
/// How long it stays open.
const OPEN_FOR: Duration = Duration::from_mins(10);

/// Keeps cosmetic calls away from a platform that refuses them.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Whether no cosmetic call is to be made now.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.open_until.is_some_and(|until| until > Instant::now())
    }

    /// Counts what came of a call.
    pub(crate) fn record(&self, result: Result<(), FaultClass>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(()) => *state = State::default(),
            Err(class) => {
                state.failures += 1;
                if state.failures >= FAILURES_MAX || class == FaultClass::Quota {
                    *state = State { failures: 0, open_until: Some(Instant::now() + OPEN_FOR) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-199: five failures in a row stop cosmetic calls for ten minutes.
    #[tokio::test(start_paused = true)]
    async fn msg_199_the_breaker_opens_and_closes() {
        let breaker = Breaker::default();
        for n in 0..5 {
            assert!(!breaker.is_open(), "{n}");
            breaker.record(Err(FaultClass::Permanent));
        }
        assert!(breaker.is_open());
        tokio::time::advance(OPEN_FOR).await;
        assert!(!breaker.is_open());
        breaker.record(Err(FaultClass::Quota));
        assert!(breaker.is_open());
    }
}
