//! `Retry-After`: seconds or an HTTP date.

use std::time::Duration;

use loom_domain::Timestamp;

/// Longest wait that is reported.
const REPORT_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Reads the header. Negative and unparsable values count as absent; a date in the past is zero.
pub(crate) fn parse(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(REPORT_MAX));
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp().as_millisecond();
    let wait = u64::try_from(date.saturating_sub(now.0)).unwrap_or(0);
    Some(Duration::from_millis(wait).min(REPORT_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-044: both forms, and nothing else.
    #[test]
    fn cap_044_retry_after_forms() {
        let now: Timestamp = "2026-11-30T06:00:00.000Z".parse().unwrap();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(parse("3600", now), seconds(3600));
        assert_eq!(parse(" 0 ", now), seconds(0));
        assert_eq!(parse("Mon, 30 Nov 2026 06:00:07 GMT", now), seconds(7));
        assert_eq!(parse("Mon, 30 Nov 2026 05:00:00 GMT", now), seconds(0));
        assert_eq!(parse("99999999999999999999999", now), seconds(86_400));
        for absent in ["", "-1", "1.5", "soon", "1e3"] {
            assert_eq!(parse(absent, now), None, "{absent}");
        }
    }
}
