//! When a filing was accepted.
//!
//! `acceptanceDateTime` ends in `Z`, and is UTC for most filers. For some it is the clock of New York with a `Z` that
//! is not true, as measured for 181 of 808 large filers (<https://github.com/theOGognf/finagg/issues/64>). Two public
//! rules tell which: EDGAR takes filings from 6:00 to 22:00 Eastern Time (17 CFR 232.12), and what is submitted after
//! 17:30 is filed on the next business day, but for some forms (17 CFR 232.13).

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time, time};
use jiff::tz::TimeZone;

/// Hours in which EDGAR accepts filings.
const OPEN: (Time, Time) = (time(6, 0, 0, 0), time(22, 0, 59, 0));
/// What comes later is filed on the next business day.
const LATE: Time = time(17, 30, 59, 0);
/// Forms that count as filed on their day until 22:00.
const LATE_FORMS: &[&str] = &["3", "4", "5", "144", "SC 13", "SCHEDULE 13"];

/// The zone of the SEC, and what was seen of a filer's stamps.
#[derive(Debug, Clone)]
pub(super) struct NewYork {
    zone: TimeZone,
    /// Stamps that can only be UTC, and only New York's clock.
    seen: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Utc,
    NewYork,
    Nothing,
}

impl NewYork {
    pub(super) fn new() -> Self {
        // A machine without time zones gets the rules that hold since 2007.
        let zone = TimeZone::get("America/New_York");
        let zone = zone.or_else(|_| TimeZone::posix("EST5EDT,M3.2.0,M11.1.0")).unwrap_or(TimeZone::UTC);
        NewYork { zone, seen: (0, 0) }
    }

    /// The day in New York.
    pub(super) fn day(&self, at: Timestamp) -> Date {
        at.to_zoned(self.zone.clone()).date()
    }

    /// Looks at one stamp of the filer.
    pub(super) fn look(&mut self, stamp: DateTime, filed: Date, form: &str) {
        match self.says(stamp, filed, form) {
            Says::Utc => self.seen.0 = self.seen.0.saturating_add(1),
            Says::NewYork => self.seen.1 = self.seen.1.saturating_add(1),
            Says::Nothing => {}
        }
    }

    /// The instant of a stamp. Its hour decides where only one reading is possible, else what most of the others say.
    pub(super) fn instant(&self, stamp: DateTime) -> Option<Timestamp> {
        let (utc, new_york) = self.seen;
        let is_new_york = match self.by_hour(stamp) {
            Says::Utc => false,
            Says::NewYork => true,
            Says::Nothing => new_york > utc,
        };
        let zone = if is_new_york { self.zone.clone() } else { TimeZone::UTC };
        stamp.to_zoned(zone).ok().map(|at| at.timestamp())
    }

    fn by_hour(&self, stamp: DateTime) -> Says {
        let is_open = |at: DateTime| (OPEN.0..=OPEN.1).contains(&at.time());
        match (self.as_utc(stamp).is_some_and(is_open), is_open(stamp)) {
            (true, false) => Says::Utc,
            (false, true) => Says::NewYork,
            _ => Says::Nothing,
        }
    }

    fn says(&self, stamp: DateTime, filed: Date, form: &str) -> Says {
        let by_hour = self.by_hour(stamp);
        let base = form.strip_suffix("/A").unwrap_or(form);
        let is_late_form =
            LATE_FORMS.iter().any(|late| base == *late || late.contains("13") && base.starts_with(late));
        let is_open = (OPEN.0..=OPEN.1).contains(&stamp.time());
        if by_hour != Says::Nothing || is_late_form || !is_open {
            return by_hour;
        }
        let fits = |at: DateTime| {
            if at.time() <= LATE { filed == at.date() } else { filed > at.date() }
        };
        match (self.as_utc(stamp).is_some_and(fits), fits(stamp)) {
            (true, false) => Says::Utc,
            (false, true) => Says::NewYork,
            _ => Says::Nothing,
        }
    }

    /// New York's clock, if the stamp is UTC.
    fn as_utc(&self, stamp: DateTime) -> Option<DateTime> {
        let at = stamp.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Some(at.to_zoned(self.zone.clone()).datetime())
    }
}

/// The stamp of an answer: a date and a time with a `Z`.
pub(super) fn stamp(text: &str) -> Option<DateTime> {
    text.strip_suffix('Z')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime {
        stamp(text).unwrap()
    }

    #[test]
    fn hours_and_filing_dates_tell_the_clock() {
        let clock = NewYork::new();
        let day = |text: &str| text.parse::<Date>().unwrap();
        for (text, filed, form, says) in [
            // Half past one at night in UTC is the evening before in New York, where nobody files at night.
            ("2024-02-02T01:30:00.000Z", "2024-02-02", "10-K", Says::Utc),
            ("2024-02-02T08:30:00.000Z", "2024-02-02", "10-K", Says::NewYork),
            ("2024-02-01T18:00:00.000Z", "2024-02-02", "10-K", Says::NewYork),
            ("2024-02-01T18:00:00.000Z", "2024-02-01", "10-K", Says::Utc),
            ("2024-02-01T18:00:00.000Z", "2024-02-01", "4", Says::Nothing),
            ("2024-02-01T14:00:00.000Z", "2024-02-01", "10-K", Says::Nothing),
            ("1996-02-01T05:00:00.000Z", "1996-02-01", "10-K", Says::Nothing),
        ] {
            assert_eq!(clock.says(at(text), day(filed), form), says, "{text} {filed} {form}");
        }
    }

    #[test]
    fn stamps_of_a_filer_are_read_like_its_others() {
        let mut clock = NewYork::new();
        let afternoon = at("2024-02-01T14:00:00.000Z");
        assert_eq!(clock.instant(afternoon).unwrap().to_string(), "2024-02-01T14:00:00Z");
        clock.look(at("2024-02-01T18:00:00.000Z"), "2024-02-02".parse().unwrap(), "10-K");
        assert_eq!(clock.instant(afternoon).unwrap().to_string(), "2024-02-01T19:00:00Z");
        let night = clock.instant(at("2024-02-02T01:30:00.000Z")).unwrap();
        assert_eq!(
            (night.to_string().as_str(), clock.day(night).to_string().as_str()),
            ("2024-02-02T01:30:00Z", "2024-02-01")
        );
        assert!(
            stamp("2024-02-01").is_none() && stamp("x").is_none() && stamp("2024-02-01T18:00:00").is_none()
        );
    }
}
