//! The retry table of the capabilities specification (2.3) as a pure decision.

pub(crate) mod after;
pub(crate) mod budget;
pub(crate) mod throttle;

use std::time::Duration;

use http::Method;

/// First delay before jitter.
const BASE_DELAY: Duration = Duration::from_millis(500);
/// Longest delay before jitter.
const DELAY_MAX: Duration = Duration::from_secs(30);
/// Longest `Retry-After` that is waited out.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);
/// Pause of a scope after a 429 that does not say how long.
pub(crate) const THROTTLE_PAUSE: Duration = Duration::from_secs(60);

/// How an attempt ended, as far as a repeat is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// No request byte was written.
    Unsent,
    /// Bytes were written and no usable answer came.
    NoAnswer,
    /// An answer with this status came.
    Status(u16),
    /// Never repeated: protocol, size, egress, credential.
    Fatal,
}

/// How the request may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Reads, and writes the provider is declared to make only once.
    Safe,
    /// A write without such a promise.
    Write,
    /// A visible write: nothing repeats it once bytes were written, a throttle included.
    Publish,
}

/// What to do after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Repeat after a delay.
    Retry,
    /// Wait until the provider takes requests again, then repeat.
    Wait,
    /// End with this answer or error.
    Stop,
    /// End with `outcome_unknown`.
    Unknown,
}

/// Finds how a request may be repeated.
pub(crate) fn repeat_of(method: &Method, idempotent: bool, publish: bool) -> Repeat {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(method);
    match (publish, reads || idempotent) {
        (true, _) => Repeat::Publish,
        (false, true) => Repeat::Safe,
        (false, false) => Repeat::Write,
    }
}

/// The table.
pub(crate) fn decide(repeat: Repeat, ending: Ending) -> Verdict {
    match (ending, repeat) {
        (Ending::Unsent, _) | (Ending::NoAnswer, Repeat::Safe) => Verdict::Retry,
        (Ending::NoAnswer, _) => Verdict::Unknown,
        (Ending::Status(429), Repeat::Safe | Repeat::Write) => Verdict::Wait,
        (Ending::Status(status), Repeat::Safe) if is_passing(status) => Verdict::Retry,
        (Ending::Status(_) | Ending::Fatal, _) => Verdict::Stop,
    }
}

/// Statuses that say the provider may do better in a moment.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 500 | 502 | 503 | 504)
}

/// Full jitter over the doubled base; `attempt` counts from 1.
pub(crate) fn delay(attempt: u32, share: f64) -> Duration {
    let doubled = BASE_DELAY.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
    doubled.min(DELAY_MAX).mul_f64(share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-043: every row of the table.
    #[test]
    fn cap_043_retry_table() {
        use Repeat::{Publish, Safe, Write};
        use Verdict::{Retry, Stop, Unknown, Wait};
        let rows = [
            (Ending::Unsent, [Retry, Retry, Retry]),
            (Ending::NoAnswer, [Retry, Unknown, Unknown]),
            (Ending::Status(408), [Retry, Stop, Stop]),
            (Ending::Status(425), [Retry, Stop, Stop]),
            (Ending::Status(500), [Retry, Stop, Stop]),
            (Ending::Status(502), [Retry, Stop, Stop]),
            (Ending::Status(503), [Retry, Stop, Stop]),
            (Ending::Status(504), [Retry, Stop, Stop]),
            (Ending::Status(429), [Wait, Wait, Stop]),
            (Ending::Status(400), [Stop, Stop, Stop]),
            (Ending::Status(404), [Stop, Stop, Stop]),
            (Ending::Status(501), [Stop, Stop, Stop]),
            (Ending::Fatal, [Stop, Stop, Stop]),
        ];
        for (ending, verdicts) in rows {
            for (repeat, verdict) in [Safe, Write, Publish].into_iter().zip(verdicts) {
                assert_eq!(decide(repeat, ending), verdict, "{repeat:?} {ending:?}");
            }
        }
    }

    #[test]
    fn methods_are_sorted_by_what_a_repeat_does() {
        assert_eq!(repeat_of(&Method::GET, false, false), Repeat::Safe);
        assert_eq!(repeat_of(&Method::PUT, false, false), Repeat::Write);
        assert_eq!(repeat_of(&Method::DELETE, true, false), Repeat::Safe);
        assert_eq!(repeat_of(&Method::POST, true, false), Repeat::Safe);
        assert_eq!(repeat_of(&Method::POST, true, true), Repeat::Publish);
    }

    #[test]
    fn delay_doubles_under_full_jitter_and_is_capped() {
        assert_eq!(delay(1, 1.0), Duration::from_millis(500));
        assert_eq!(delay(3, 0.5), Duration::from_secs(1));
        assert_eq!(delay(60, 1.0), Duration::from_secs(30));
        assert_eq!(delay(2, 0.0), Duration::ZERO);
    }
}
