//! The working mark: a reaction, cosmetic, behind a breaker (messaging specification 5.7).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::Inner;
use super::errors::Effect;
use super::wire::is_ts;
use crate::{Fault, FaultClass, Mark};

/// The reaction that says "being worked on".
const WORKING: &str = "eyes";
/// Failures in a row that open the breaker.
const FAILURES_MAX: u32 = 5;
/// How long it stays open.
const OPEN_FOR: Duration = Duration::from_mins(10);

/// Keeps cosmetic calls away from a platform that refuses them.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    fn is_open(&self) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.open_until.is_some_and(|until| until > Instant::now())
    }

    fn record(&self, result: Result<(), FaultClass>) {
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

impl Inner {
    pub(super) async fn mark(&self, channel: &str, message: &str, mark: Mark) -> Result<(), Fault> {
        if !is_ts(message) {
            return Ok(());
        }
        if self.breaker.is_open() {
            return Err(Fault::new(
                FaultClass::Quota,
                "breaker_open",
                "cosmetic calls are stopped for a while",
            ));
        }
        let method = match mark {
            Mark::Working => "reactions.add",
            Mark::None => "reactions.remove",
        };
        let params = json!({"channel": channel, "timestamp": message, "name": WORKING});
        let result = self.api.call(method, params, Effect::None).await.map(|_| ());
        self.breaker.record(result.as_ref().copied().map_err(|fault| fault.class));
        result
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
