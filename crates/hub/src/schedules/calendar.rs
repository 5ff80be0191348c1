//! When a schedule is due. Its fields name local times; each local time is due once: one that the zone leaves out at
//! the instant its clocks jump, one that comes twice at the first.

use cronexpr::{Crontab, FallbackTimezoneOption, MakeTimestamp, ParseOptions, parse_crontab_with};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use loom_domain::schedule::Slot;
use loom_domain::{Error, Result, Timestamp};
use loom_report::zone_of;

/// Longest text of the fields.
const CRON_CHARS_MAX: usize = 200;
const FIELDS: usize = 5;
/// Spans that are looked back, each twenty times the one before; what is older is not told.
const LOOKS_BACK_MS: [i64; 4] = [2 * 3_600_000, 40 * 3_600_000, 800 * 3_600_000, 16_000 * 3_600_000];

/// The times of a schedule.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    cron: Crontab,
    tz: TimeZone,
}

impl Calendar {
    /// Reads the fields and the zone.
    pub(crate) fn parse(cron: &str, zone: &str) -> Result<Calendar> {
        let tz = zone_of(zone)?;
        let fields = match cron.trim() {
            "@daily" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            fields => fields,
        };
        if fields.len() > CRON_CHARS_MAX || fields.split_ascii_whitespace().count() != FIELDS {
            return Err(malformed("expected five fields"));
        }
        let mut options = ParseOptions::default();
        options.fallback_timezone_option = FallbackTimezoneOption::UTC;
        let cron = parse_crontab_with(fields, options).map_err(|error| malformed(&reason(&error)))?;
        Ok(Calendar { cron, tz })
    }

    /// The canonical name of the zone.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.tz.iana_name()
    }

    /// The first time after an instant; `None` when none comes within four years.
    pub(crate) fn after(&self, instant: Timestamp) -> Option<Slot> {
        let from = jiff::Timestamp::from_millisecond(instant.0).ok()?;
        let mut local = self.next_local(self.tz.to_datetime(from))?;
        let mut at = self.instant_of(local)?;
        // The second pass of a repeated hour names times that have been.
        while at <= from {
            local = self.next_local(local)?;
            at = self.instant_of(local)?;
        }
        // Times that the zone leaves out are all due as its clocks jump: the last one stands for them.
        while let Some(next) = self.next_local(local).filter(|next| self.instant_of(*next) == Some(at)) {
            local = next;
        }
        Some(Slot { local: local.strftime("%Y-%m-%dT%H:%M").to_string(), at: Timestamp(at.as_millisecond()) })
    }

    /// The next times after an instant.
    pub(crate) fn next(&self, instant: Timestamp, most: usize) -> Vec<Slot> {
        std::iter::successors(self.after(instant), |slot| self.after(slot.at)).take(most).collect()
    }

    /// The newest times after one instant and up to another, oldest first.
    pub(crate) fn between(&self, after: Timestamp, until: Timestamp, most: usize) -> Vec<Slot> {
        let mut slots = Vec::new();
        for back in LOOKS_BACK_MS {
            let from = after.max(until.plus_ms(-back));
            let all = std::iter::successors(self.after(from), |slot| self.after(slot.at));
            slots = all.take_while(|slot| slot.at <= until).collect();
            if slots.len() > most || from == after {
                break;
            }
        }
        slots.split_off(slots.len().saturating_sub(most))
    }

    fn next_local(&self, local: DateTime) -> Option<DateTime> {
        // The fields know no zone: local times are read as if they were those of one without changes.
        let plain = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Some(self.cron.find_next(MakeTimestamp(plain)).ok()?.datetime())
    }

    fn instant_of(&self, local: DateTime) -> Option<jiff::Timestamp> {
        match self.tz.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                let earlier = after.to_timestamp(local).ok()?;
                self.tz.following(earlier).next().map(|jump| jump.timestamp())
            }
        }
    }
}

fn malformed(why: &str) -> Error {
    Error::invalid("cron", why).with_hint(
        "minute, hour, day, month and weekday, such as `0 9 * * 1-5`; or @daily, @weekly, @monthly",
    )
}

/// The last line of what the parser says, without its drawing.
fn reason(error: &cronexpr::Error) -> String {
    let text = error.to_string();
    text.rsplit_once("^ ").map_or("it cannot be read", |(_, why)| why).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn next(cron: &str, zone: &str, from: &str, most: usize) -> Vec<String> {
        let calendar = Calendar::parse(cron, zone).unwrap();
        calendar.next(at(from), most).iter().map(|slot| format!("{} {}", slot.local, slot.at)).collect()
    }

    /// CAP-134: a local time that does not exist is due once, as the clocks jump.
    #[test]
    fn cap_134_a_time_in_a_gap_is_due_once_at_the_next_valid_instant() {
        let berlin = "Europe/Berlin";
        let found = next("30 2 * * *", berlin, "2026-03-28T12:00:00.000Z", 2);
        let wanted =
            ["2026-03-29T02:30 2026-03-29T01:00:00.000Z", "2026-03-30T02:30 2026-03-30T00:30:00.000Z"];
        assert_eq!(found, wanted);
        // Sixty minutes that were left out are one time, and it is the one that exists.
        let found = next("* * * * *", berlin, "2026-03-29T00:58:00.000Z", 3);
        let wanted = [
            "2026-03-29T01:59 2026-03-29T00:59:00.000Z",
            "2026-03-29T03:00 2026-03-29T01:00:00.000Z",
            "2026-03-29T03:01 2026-03-29T01:01:00.000Z",
        ];
        assert_eq!(found, wanted);
        // Samoa left a whole day out.
        let found = next("0 9 * * *", "Pacific/Apia", "2011-12-29T20:00:00.000Z", 2);
        assert_eq!(
            found,
            ["2011-12-30T09:00 2011-12-30T10:00:00.000Z", "2011-12-31T09:00 2011-12-30T19:00:00.000Z"]
        );
    }

    /// CAP-134: a local time that comes twice is due once.
    #[test]
    fn cap_134_a_repeated_time_is_due_once() {
        let berlin = "Europe/Berlin";
        let found = next("30 2 * * *", berlin, "2026-10-24T12:00:00.000Z", 2);
        let wanted =
            ["2026-10-25T02:30 2026-10-25T00:30:00.000Z", "2026-10-26T02:30 2026-10-26T01:30:00.000Z"];
        assert_eq!(found, wanted);
        // Asked in the second pass, the hour is over.
        let found = next("*/20 * * * *", berlin, "2026-10-25T01:10:00.000Z", 1);
        assert_eq!(found, ["2026-10-25T03:00 2026-10-25T02:00:00.000Z"]);
    }

    #[test]
    fn short_forms_and_weekdays() {
        let from = "2026-11-30T17:00:00.000Z";
        for (cron, local) in [
            ("@daily", "2026-12-01T00:00"),
            ("@weekly", "2026-12-06T00:00"),
            ("@monthly", "2026-12-01T00:00"),
            ("0 9 * * 1-5", "2026-12-01T09:00"),
            ("0 9 1,15 * *", "2026-12-01T09:00"),
            ("0 0 29 2 *", "2028-02-29T00:00"),
        ] {
            assert!(next(cron, "UTC", from, 1)[0].starts_with(local), "{cron}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        let long = "0 ".repeat(200);
        for cron in ["", "* * * *", "* * * * * *", "60 * * * *", "* * 0 * *", "@hourly", "a b c d e", &long] {
            let error = Calendar::parse(cron, "UTC").unwrap_err();
            assert_eq!(error.detail["field"], "cron", "{cron}: {error}");
            assert!(!error.message.contains('\n'), "{error}");
        }
        for zone in ["", "Mars/Base", "../UTC"] {
            assert!(Calendar::parse("@daily", zone).is_err(), "{zone}");
        }
        assert!(
            Calendar::parse("0 0 30 2 *", "UTC").unwrap().after(at("2026-01-01T00:00:00.000Z")).is_none()
        );
    }

    #[test]
    fn the_newest_times_of_a_long_pause_are_found() {
        let calendar = Calendar::parse("* * * * *", "UTC").unwrap();
        let (from, until) = (at("2025-01-01T00:00:00.000Z"), at("2026-01-01T00:00:30.000Z"));
        let found = calendar.between(from, until, 3);
        let found: Vec<&str> = found.iter().map(|slot| slot.local.as_str()).collect();
        assert_eq!(found, ["2025-12-31T23:58", "2025-12-31T23:59", "2026-01-01T00:00"]);
        let monthly = Calendar::parse("@monthly", "UTC").unwrap();
        assert_eq!(monthly.between(from, until, 101).len(), 12);
        assert!(monthly.between(until, until, 101).is_empty());
    }

    /// P-10: whatever the zone does, times go on and never come twice.
    #[test]
    fn p_10_instants_and_local_times_only_go_on() {
        for zone in
            ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"]
        {
            for cron in ["*/7 * * * *", "15 2 * * *", "0 */3 * * 0", "@monthly"] {
                let calendar = Calendar::parse(cron, zone).unwrap();
                let slots = calendar.next(at("2026-03-01T00:00:00.000Z"), 400);
                for pair in slots.windows(2) {
                    assert!(
                        pair[0].at < pair[1].at && pair[0].local < pair[1].local,
                        "{cron} {zone}: {pair:?}"
                    );
                }
            }
        }
    }
}
