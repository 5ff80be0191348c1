//! Answers that say a limit is used up (capabilities specification, 2.3 and 2.4), as pure decisions.

use std::time::Duration;

use http::HeaderMap;
use loom_domain::Timestamp;

use super::{THROTTLE_PAUSE, after};
use crate::response::RateState;
use crate::scope::Profile;

/// Numbers above are Unix seconds, below them seconds from now: providers use either.
const UNIX_SECONDS_MIN: u64 = 1_000_000_000;
/// Longest wait for a reset that is believed.
const RESET_MAX: Duration = Duration::from_secs(24 * 3_600);

/// A throttled request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Throttle {
    /// The wait that the answer names.
    pub(crate) asked: Option<Duration>,
}

impl Throttle {
    /// The wait, 60 s if the answer names none.
    pub(crate) fn wait(self) -> Duration {
        self.asked.unwrap_or(THROTTLE_PAUSE)
    }
}

/// Whether the answer is a throttle: 429; 403 with nothing remaining or with `Retry-After`; any 403 of the SEC.
pub(crate) fn read(profile: Profile, status: u16, headers: &HeaderMap, now: Timestamp) -> Option<Throttle> {
    let after = retry_after(headers, now);
    let rate = RateState::read(headers);
    let used_up = rate.as_ref().is_some_and(|rate| rate.remaining == Some(0));
    let throttled = match status {
        429 => true,
        403 => profile == Profile::Sec || used_up || after.is_some(),
        _ => false,
    };
    let reset = || rate.as_ref().filter(|_| used_up).and_then(|rate| until_reset(rate, now));
    throttled.then(|| Throttle { asked: after.or_else(reset) })
}

/// How long a limit must rest because only its reserve is left. Of a small limit a tenth is reserve enough: without a
/// token there are 60 requests an hour.
pub(crate) fn reserve(rate: &RateState, reserve: u32, now: Timestamp) -> Option<Duration> {
    let kept = rate.limit.map_or(u64::from(reserve), |limit| u64::from(reserve).min(limit / 10));
    let reached = rate.remaining.is_some_and(|remaining| remaining <= kept);
    if reached && reserve > 0 { until_reset(rate, now).filter(|wait| !wait.is_zero()) } else { None }
}

/// The `Retry-After` header.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    after::parse(headers.get(http::header::RETRY_AFTER)?.to_str().ok()?, now)
}

fn until_reset(rate: &RateState, now: Timestamp) -> Option<Duration> {
    let reset = rate.reset_at?;
    if reset < UNIX_SECONDS_MIN {
        return Some(Duration::from_secs(reset).min(RESET_MAX));
    }
    let reset_ms = i64::try_from(reset.saturating_mul(1_000)).unwrap_or(i64::MAX);
    let wait = u64::try_from(reset_ms.saturating_sub(now.0)).unwrap_or(0);
    Some(Duration::from_millis(wait).min(RESET_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_throttle_is_told_from_a_refusal() {
        let seconds = |s| Some(Some(Duration::from_secs(s)));
        let remaining = |n| [("x-ratelimit-remaining", n), ("x-ratelimit-reset", "1800000090")];
        for (profile, status, pairs, asked) in [
            (Profile::Host, 429, &[] as &[_], Some(None)),
            (Profile::Host, 429, &[("retry-after", "7")], seconds(7)),
            (Profile::Host, 429, &remaining("0"), seconds(90)),
            (Profile::Host, 429, &remaining("3"), Some(None)),
            (Profile::Github, 403, &remaining("0"), seconds(90)),
            (Profile::Github, 403, &remaining("1"), None),
            (Profile::Github, 403, &[("retry-after", "60")], seconds(60)),
            (
                Profile::Lark,
                429,
                &[("x-ogw-ratelimit-remaining", "0"), ("x-ogw-ratelimit-reset", "4")],
                seconds(4),
            ),
            (Profile::Sec, 403, &[], Some(None)),
            (Profile::Host, 403, &[], None),
            (Profile::Host, 503, &[("retry-after", "7")], None),
            (Profile::Host, 200, &remaining("0"), None),
        ] {
            let found = read(profile, status, &headers(pairs), NOW).map(|throttle| throttle.asked);
            assert_eq!(found, asked, "{profile:?} {status} {pairs:?}");
        }
    }

    #[test]
    fn the_reserve_of_a_large_limit_is_kept() {
        let rate =
            |limit, remaining| RateState { limit, remaining: Some(remaining), reset_at: Some(1_800_000_060) };
        let minute = Some(Duration::from_secs(60));
        assert_eq!(reserve(&rate(Some(5_000), 50), 50, NOW), minute);
        assert_eq!(reserve(&rate(None, 10), 50, NOW), minute);
        assert_eq!(reserve(&rate(Some(5_000), 51), 50, NOW), None);
        assert_eq!(reserve(&rate(Some(60), 7), 50, NOW), None);
        assert_eq!(reserve(&rate(Some(60), 6), 50, NOW), minute);
        assert_eq!(reserve(&rate(Some(5_000), 0), 0, NOW), None);
    }
}
