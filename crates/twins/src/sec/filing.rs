//! Filings.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use crate::front::Dice;

/// First and last fiscal year of a generated history.
const YEARS: std::ops::RangeInclusive<i16> = 2005..=2025;
/// The year whose filings are the first with structured data.
const XBRL_SINCE: i16 = 2010;

/// A filing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filing {
    /// Accession number, `0000320193-24-000123`.
    pub accession: String,
    /// Form, such as `10-K` or `10-K/A`.
    pub form: String,
    /// When it was accepted.
    pub accepted: Timestamp,
    /// Date of filing: the next working day for what is accepted after 17:30 in New York.
    pub filing_date: Date,
    /// End of the period it reports on; none for some forms.
    pub report_date: Option<Date>,
    /// Items of an 8-K, `2.02,9.01`.
    pub items: String,
    /// Name of the main document.
    pub document: String,
    /// Size in bytes.
    pub size: u64,
    /// Whether it has structured data.
    pub is_xbrl: bool,
    /// Fiscal year and period of a report (`FY`, `Q1` to `Q3`).
    pub fiscal: Option<(i16, String)>,
}

impl Filing {
    /// A filing accepted at an instant; its other fields follow from the form.
    pub fn new(accession: &str, form: &str, accepted: Timestamp, report_date: Option<Date>) -> Self {
        let filing_date = filing_date(accepted);
        Self {
            accession: accession.into(),
            form: form.into(),
            accepted,
            filing_date,
            report_date,
            items: String::new(),
            document: format!("{}.htm", form.to_ascii_lowercase().replace(['/', ' '], "-")),
            size: 100_000,
            is_xbrl: filing_date.year() >= XBRL_SINCE && form.starts_with("10-"),
            fiscal: None,
        }
    }

    /// Whether it changes an earlier filing.
    pub fn is_amendment(&self) -> bool {
        self.form.ends_with("/A")
    }

    /// The folder of its documents.
    pub fn folder(&self) -> String {
        self.accession.replace('-', "")
    }
}

/// The date of filing («EDGAR Filer Manual», volume II: submissions after 17:30 Eastern get the next business day).
fn filing_date(accepted: Timestamp) -> Date {
    let there = in_new_york(accepted);
    let is_late = (there.hour(), there.minute(), there.second()) > (17, 30, 0);
    let mut date = if is_late { later(there.date(), 1.day()) } else { there.date() };
    while matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday) {
        date = later(date, 1.day());
    }
    date
}

/// The clock in New York by today's rules, whatever time zones the machine knows.
pub(super) fn in_new_york(at: Timestamp) -> DateTime {
    let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap_or(TimeZone::UTC);
    at.to_zoned(zone).datetime()
}

fn later(date: Date, span: Span) -> Date {
    date.checked_add(span).unwrap_or(date)
}

/// Every filing of a company, newest first.
pub(super) fn history(dice: Dice, cik: u64, stem: &str) -> Vec<Filing> {
    let mut planned: Vec<Plan> = YEARS.flat_map(|year| plans(dice, year)).collect();
    planned.sort_by_key(|plan| plan.accepted);
    let numbered = (1_u64..).zip(&planned).map(|(number, plan)| plan.file(cik, stem, number));
    let mut filings: Vec<Filing> = numbered.collect();
    filings.reverse();
    filings
}

/// A filing before it has its number.
struct Plan {
    form: String,
    accepted: Timestamp,
    report_date: Option<Date>,
    items: &'static str,
    size: u64,
    fiscal: Option<(i16, String)>,
}

impl Plan {
    fn file(&self, cik: u64, stem: &str, number: u64) -> Filing {
        let date = filing_date(self.accepted);
        let accession = format!("{cik:010}-{:02}-{number:06}", date.year().rem_euclid(100));
        let filing = Filing::new(&accession, &self.form, self.accepted, self.report_date);
        let day = self.report_date.unwrap_or(date);
        let kind = self.form.to_ascii_lowercase().replace(['/', ' ', '-'], "");
        let document = match self.form.as_str() {
            "4" => "xslF345X05/form4.xml".to_owned(),
            "10-K" | "10-Q" => format!("{stem}-{:04}{:02}{:02}.htm", day.year(), day.month(), day.day()),
            _ => format!("{stem}-{kind}-{number}.htm"),
        };
        let (items, size, fiscal) = (self.items.to_owned(), self.size, self.fiscal.clone());
        Filing { items, document, size, fiscal, ..filing }
    }
}

/// What a company files about and in a year.
fn plans(dice: Dice, year: i16) -> Vec<Plan> {
    let dice = dice.at(u64::from(year.unsigned_abs()));
    let mut plans = Vec::new();
    for (quarter, period) in (1_i8..).zip(["Q1", "Q2", "Q3", "FY"]) {
        let end = Date::new(year, quarter * 3, 1).unwrap_or_default().last_of_month();
        let dice = dice.of(period);
        let form = if period == "FY" { "10-K" } else { "10-Q" };
        let report = |dice: Dice, form: &str, days: u64| Plan {
            form: form.to_owned(),
            accepted: accepted(dice, end, days),
            report_date: Some(end),
            items: "",
            size: 2_000_000 + dice.of("size").below(9_000_000),
            fiscal: Some((year, period.to_owned())),
        };
        plans.push(report(dice, form, 30 + dice.of("days").below(10)));
        if dice.of("amended").percent(if period == "FY" { 25 } else { 5 }) {
            plans.push(report(dice.of("amendment"), &format!("{form}/A"), 60 + dice.of("later").below(30)));
        }
        let news = |at: u64, form: &str, items: &'static str| Plan {
            form: form.to_owned(),
            accepted: accepted(dice.of(form).at(at), end, 20 + dice.of(form).at(at).of("days").below(60)),
            report_date: (form == "8-K").then_some(end),
            items,
            size: 5_000 + dice.of(form).at(at).of("size").below(300_000),
            fiscal: None,
        };
        plans.push(news(0, "8-K", "2.02,9.01"));
        plans.extend((1..=dice.of("events").below(2)).map(|at| news(at, "8-K", "5.02")));
        plans.extend((0..dice.of("insiders").below(4)).map(|at| news(at, "4", "")));
        if period == "FY" {
            plans.push(news(0, "DEF 14A", ""));
        }
    }
    plans
}

/// An instant so many days after the end of a period, in office hours or in the evening.
fn accepted(dice: Dice, end: Date, days: u64) -> Timestamp {
    let mut date = later(end, i64::try_from(days).unwrap_or(30).days());
    while matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday) {
        date = later(date, 1.day());
    }
    let seconds = i64::try_from(12 * 3_600 + dice.of("time").below(11 * 3_600)).unwrap_or(43_200);
    let at = DateTime::from_parts(date, jiff::civil::Time::midnight()).to_zoned(TimeZone::UTC);
    let midnight = at.map_or(Timestamp::UNIX_EPOCH, |at| at.timestamp());
    midnight.checked_add(seconds.seconds()).unwrap_or(midnight)
}
