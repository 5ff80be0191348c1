//! Times for people: relative, and exact where nothing is cut.

use loom_domain::Timestamp;

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;

/// A span of seconds in its largest unit.
pub(super) fn span(seconds: i64) -> String {
    match seconds {
        s if s < MINUTE_S => format!("{s}s"),
        s if s < HOUR_S => format!("{}m", s / MINUTE_S),
        s if s < 2 * DAY_S => format!("{}h", s / HOUR_S),
        s => format!("{}d", s / DAY_S),
    }
}

/// A time against now: `4m ago`, `in 2h`.
pub(super) fn relative(at: Timestamp, now: Timestamp) -> String {
    if at.0 > now.0 {
        format!("in {}", span(at.since_ms(now) / 1_000))
    } else {
        format!("{} ago", span(now.since_ms(at) / 1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let now = Timestamp(1_000_000_000);
        assert_eq!(relative(Timestamp(now.0 - 4_000), now), "4s ago");
        assert_eq!(relative(Timestamp(now.0 + 7_200_000), now), "in 2h");
        assert_eq!(span(3 * DAY_S), "3d");
    }
}
