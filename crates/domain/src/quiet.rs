//! Quiet hours (messaging specification 1.6): when a proactive, non-urgent send may go. Local times follow the
//! zone's own shifts; an end inside a gap moves past it, and of a doubled hour the end still to come counts.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use crate::membership::QuietHours;
use crate::{Error, Timestamp};

struct Window {
    zone: TimeZone,
    from: Time,
    to: Time,
}

/// Checks quiet hours: an IANA zone and two different times of day.
pub fn check(hours: &QuietHours) -> Result<(), Error> {
    parse(hours).map(|_| ())
}

/// The end of the quiet period that holds at `now`; none outside of it.
pub fn quiet_until(hours: &QuietHours, now: Timestamp) -> Result<Option<Timestamp>, Error> {
    let window = parse(hours)?;
    let instant = jiff::Timestamp::from_millisecond(now.0).map_err(Error::internal)?;
    let local = instant.to_zoned(window.zone.clone()).datetime();
    if !window.contains(local.time()) {
        return Ok(None);
    }
    window.end_after(local, now).map(Some)
}

fn parse(hours: &QuietHours) -> Result<Window, Error> {
    let zone = TimeZone::get(hours.tz.trim())
        .map_err(|_| Error::invalid("quietHours.tz", "use an IANA zone such as Europe/Berlin"))?;
    let (from, to) = (time_of_day("from", &hours.from)?, time_of_day("to", &hours.to)?);
    if from == to {
        return Err(Error::invalid("quietHours", "`from` and `to` differ"));
    }
    Ok(Window { zone, from, to })
}

fn time_of_day(field: &str, text: &str) -> Result<Time, Error> {
    let wrong = || Error::invalid("quietHours", format!("`{field}` is a time such as 22:00"));
    let (hour, minute) = text.split_once(':').ok_or_else(wrong)?;
    let number = |digits: &str| -> Option<i8> {
        let is_two = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_two { digits.parse().ok() } else { None }
    };
    let (hour, minute) = (number(hour).ok_or_else(wrong)?, number(minute).ok_or_else(wrong)?);
    Time::new(hour, minute, 0, 0).map_err(|_| wrong())
}

impl Window {
    fn contains(&self, time: Time) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }

    fn end_after(&self, local: DateTime, now: Timestamp) -> Result<Timestamp, Error> {
        let date = if local.time() < self.to {
            local.date()
        } else {
            local.date().tomorrow().map_err(Error::internal)?
        };
        let ambiguous = self.zone.to_ambiguous_timestamp(date.to_datetime(self.to));
        let first = ambiguous.compatible().map_err(Error::internal)?.as_millisecond();
        let end =
            if first > now.0 { first } else { ambiguous.later().map_err(Error::internal)?.as_millisecond() };
        Ok(Timestamp(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(tz: &str, from: &str, to: &str) -> QuietHours {
        QuietHours { tz: tz.to_owned(), from: from.to_owned(), to: to.to_owned() }
    }

    fn until(hours: &QuietHours, now: &str) -> Option<String> {
        quiet_until(hours, now.parse().unwrap()).unwrap().map(|end| end.to_string())
    }

    #[test]
    fn msg_178_quiet_hours_end_at_their_local_time() {
        let night = hours("Europe/Berlin", "22:00", "07:00");
        assert_eq!(until(&night, "2026-01-10T20:59:59Z"), None);
        assert_eq!(until(&night, "2026-01-10T21:00:00Z").unwrap(), "2026-01-11T06:00:00.000Z");
        assert_eq!(until(&night, "2026-01-11T05:59:59Z").unwrap(), "2026-01-11T06:00:00.000Z");
        assert_eq!(until(&night, "2026-01-11T06:00:00Z"), None);
        let lunch = hours("UTC", "12:00", "13:30");
        assert_eq!(until(&lunch, "2026-01-10T12:00:00Z").unwrap(), "2026-01-10T13:30:00.000Z");
    }

    #[test]
    fn p_10_quiet_hours_over_shifts_of_the_clock() {
        // Berlin springs from 02:00 to 03:00 on 29 March 2026; 02:30 does not exist.
        let gap = hours("Europe/Berlin", "22:00", "02:30");
        assert_eq!(until(&gap, "2026-03-29T00:30:00Z").unwrap(), "2026-03-29T01:30:00.000Z");
        // It falls back from 03:00 to 02:00 on 25 October 2026; 02:30 comes twice.
        let fold = hours("Europe/Berlin", "22:00", "02:30");
        assert_eq!(until(&fold, "2026-10-25T00:10:00Z").unwrap(), "2026-10-25T00:30:00.000Z");
        assert_eq!(until(&fold, "2026-10-25T01:10:00Z").unwrap(), "2026-10-25T01:30:00.000Z");
    }

    #[test]
    fn wrong_hours_are_refused() {
        for (tz, from, to) in [
            ("Mars/Base", "22:00", "07:00"),
            ("UTC", "24:00", "07:00"),
            ("UTC", "7:00", "08:00"),
            ("UTC", "22:00", "22:00"),
            ("UTC", "22", "07:00"),
            ("../etc/passwd", "22:00", "07:00"),
        ] {
            assert!(check(&hours(tz, from, to)).is_err(), "{tz} {from} {to}");
        }
    }
}
