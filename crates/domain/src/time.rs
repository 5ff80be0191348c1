//! Times are Unix milliseconds inside and RFC 3339 UTC with three decimals outside.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Code, Error};

/// A wall-clock time in Unix milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time that many milliseconds later.
    pub const fn plus_ms(self, ms: i64) -> Self {
        Timestamp(self.0.saturating_add(ms))
    }
    /// Milliseconds from `earlier` to this time, never negative.
    pub const fn since_ms(self, earlier: Timestamp) -> i64 {
        let gap = self.0.saturating_sub(earlier.0);
        if gap < 0 { 0 } else { gap }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse::<jiff::Timestamp>().map(|time| Timestamp(time.as_millisecond())).map_err(|_| {
            Error::new(Code::InvalidTime, "expected an RFC 3339 time such as 2026-01-31T09:00:00.000Z")
        })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message))
    }
}

/// Parses a duration as the command line takes it: `30s 15m 24h 7d`, or a bare integer of seconds. Gives milliseconds.
pub fn parse_duration_ms(text: &str) -> Result<i64, Error> {
    let wrong = || Error::new(Code::InvalidTime, "expected a duration such as 30s, 15m, 24h or 7d");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let count: i64 = digits.parse().map_err(|_| wrong())?;
    let unit_ms = match unit {
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    count.checked_mul(unit_ms).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_exactly_three_decimals() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            "2026-11-30T06:11:16.5Z".parse::<Timestamp>().unwrap().to_string(),
            "2026-11-30T06:11:16.500Z"
        );
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration_ms("30s").unwrap(), 30_000);
        assert_eq!(parse_duration_ms("7d").unwrap(), 604_800_000);
        assert_eq!(parse_duration_ms("5").unwrap(), 5_000);
        for bad in ["", "s", "1w", "-1s", "1.5h", "99999999999999999d"] {
            assert!(parse_duration_ms(bad).is_err(), "{bad}");
        }
    }
}
