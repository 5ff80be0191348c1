//! Which filings are given, and which pages of older ones are read for them.

use std::collections::HashSet;

use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use loom_domain::{Code, Error, Result, Timestamp};
use serde_json::json;

use super::client::Sec;
use super::names;
use super::new_york::NewYork;
use super::output::Filing;
use super::submissions::{self, Page, Row, Submissions};
use crate::{Cursor, Flow, StopReason};

/// A filing is dated on the next business day at the latest; holidays and weekends lie within.
const DATED_LATER_DAYS: i64 = 10;
/// Forms that are named when none fits.
const FORMS_SHOWN: usize = 10;
/// Most forms that are remembered.
const FORMS_MAX: usize = 1_000;

/// Which filings are wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Forms; none means all.
    pub(super) forms: Vec<String>,
    /// Whether a form means its amendments too.
    pub(super) amendments: bool,
    pub(super) since: Option<Date>,
    pub(super) until: Option<Date>,
    /// Accepted at the end of this day in New York.
    pub(super) as_of: Option<Date>,
    pub(super) accession: Option<String>,
    /// Those behind this one.
    pub(super) after: Option<Key>,
    pub(super) limit: usize,
    /// Tables that are read, with the first.
    pub(super) pages_max: u32,
}

/// Place of a filing in the order: newest acceptance first, then by accession number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(std::cmp::Reverse<i64>, String);

/// How a search ended.
pub(super) struct Found {
    pub(super) stop_reason: StopReason,
    pub(super) cursor: Option<Cursor>,
    pub(super) given: usize,
    /// Forms of all filings that were seen, as far as `as_of` lets them be seen.
    pub(super) forms: Vec<String>,
}

impl Key {
    pub(super) fn of_cursor(cursor: &Cursor) -> Result<Key> {
        let position = &cursor.position;
        let at = position.get("accepted_ms").and_then(serde_json::Value::as_i64);
        let accession = position.get("accession").and_then(serde_json::Value::as_str);
        let (Some(at), Some(accession)) = (at, accession) else {
            return Err(Error::new(Code::InvalidInput, "the cursor has no position")
                .with_detail("pointer", "/cursor"));
        };
        Ok(Key(std::cmp::Reverse(at), accession.to_owned()))
    }

    fn cursor(&self) -> Cursor {
        Cursor::at(json!({"accepted_ms": self.0.0, "accession": self.1}))
    }
}

impl Wanted {
    /// Whether a page may hold a filing that is wanted.
    fn overlaps(&self, page: &Page, clock: &NewYork) -> bool {
        let later = |day: Date| day.checked_add(DATED_LATER_DAYS.days()).unwrap_or(day);
        let resumed = self.after.as_ref().and_then(|key| jiff::Timestamp::from_millisecond(key.0.0).ok());
        let newest = [self.until, self.as_of.map(later), resumed.map(|at| later(clock.day(at)))];
        let (first, last) = self.years().unzip();
        self.since.into_iter().chain(first).all(|since| page.to >= since)
            && newest.into_iter().chain([last]).flatten().all(|until| page.from <= until)
    }

    /// The days in which the filing of the accession number can have been dated: its year, and the one after.
    fn years(&self) -> Option<(Date, Date)> {
        let year: i16 = self.accession.as_deref()?.get(11..13)?.parse().ok()?;
        // EDGAR began in 1993.
        let year = if year >= 90 { 1900 + year } else { 2000 + year };
        Some((date(year, 1, 1), date(year + 1, 12, 31)))
    }

    fn takes_form(&self, form: &str) -> bool {
        let base = form.strip_suffix("/A").filter(|_| self.amendments);
        self.forms.is_empty() && (self.amendments || !is_amendment(form))
            || self.forms.iter().any(|wanted| wanted == form || base == Some(wanted))
    }

    fn takes(&self, row: &Row) -> bool {
        match &self.accession {
            Some(accession) => row.accession == *accession,
            None => {
                self.takes_form(&row.form)
                    && self.since.is_none_or(|since| row.filed >= since)
                    && self.until.is_none_or(|until| row.filed <= until)
            }
        }
    }
}

/// The tables of a company, and what makes a filing of a row.
pub(super) struct Search<'a> {
    pub(super) sec: &'a Sec<'a>,
    pub(super) cik: u64,
    pub(super) ticker: Option<String>,
    pub(super) wanted: &'a Wanted,
}

/// Filings that were found and not given yet.
struct Held {
    key: Key,
    day: Date,
    filing: Filing,
}

impl Search<'_> {
    /// Gives filings in order until the limit, reading the pages that overlap, newest first.
    pub(super) async fn run(
        mut self,
        submissions: Submissions,
        mut give: impl FnMut(Filing, Cursor) -> Flow + Send,
    ) -> Result<Found> {
        self.ticker = self.ticker.take().or_else(|| submissions.tickers.first().cloned());
        let mut clock = NewYork::new();
        let (recent, mut pages) = submissions.filings(self.cik)?;
        pages.retain(|page| self.wanted.overlaps(page, &clock));
        let mut pages = pages.into_iter();
        let (mut held, mut seen) = (Vec::<Held>::new(), HashSet::new());
        let mut found = Found { stop_reason: StopReason::End, cursor: None, given: 0, forms: Vec::new() };
        let (mut table, mut next, mut read) = (recent, pages.next(), 1);
        loop {
            self.hold(table, &mut clock, &mut held, &mut seen, &mut found.forms)?;
            let is_enough = found.given + held.len() >= self.wanted.limit;
            // What is as new as the next page waits for it: their order may be mixed.
            let ready = match &next {
                Some(page) if !is_enough => held.partition_point(|one| one.day > page.to),
                _ => held.len(),
            };
            for one in held.drain(..ready.min(self.wanted.limit - found.given)) {
                let cursor = one.key.cursor();
                found.given += 1;
                found.cursor = Some(cursor.clone());
                if let Flow::Stop(reason) = give(one.filing, cursor) {
                    found.stop_reason = reason;
                    return Ok(found);
                }
            }
            let Some(page) = next.take() else {
                found.stop_reason = if held.is_empty() { StopReason::End } else { StopReason::Limit };
                return Ok(found);
            };
            if is_enough || read >= self.wanted.pages_max {
                found.stop_reason = if is_enough { StopReason::Limit } else { StopReason::MaxPages };
                return Ok(found);
            }
            table = submissions::read_page(self.sec, &page).await?;
            next = pages.next();
            read += 1;
        }
    }

    /// Keeps the wanted filings of a table, in order.
    fn hold(
        &self,
        table: Vec<Row>,
        clock: &mut NewYork,
        held: &mut Vec<Held>,
        seen: &mut HashSet<String>,
        forms: &mut Vec<String>,
    ) -> Result<()> {
        table.iter().for_each(|row| clock.look(row.stamp, row.filed, &row.form));
        for row in table {
            let accepted = clock.instant(row.stamp);
            let accepted =
                accepted.ok_or_else(|| super::client::unreadable("a filing was accepted at no time"))?;
            let day = clock.day(accepted);
            if self.wanted.as_of.is_some_and(|as_of| day > as_of) {
                continue;
            }
            if forms.len() < FORMS_MAX && !forms.contains(&row.form) {
                forms.push(row.form.clone());
            }
            let key = Key(std::cmp::Reverse(accepted.as_millisecond()), row.accession.clone());
            let is_behind = self.wanted.after.as_ref().is_none_or(|after| key > *after);
            // A filing that moved to a page while the list was read stands in both.
            if is_behind && self.wanted.takes(&row) && seen.insert(row.accession.clone()) {
                let accepted = Timestamp(accepted.as_millisecond());
                held.push(Held { key, day, filing: self.filing(row, accepted) });
            }
        }
        held.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(())
    }

    fn filing(&self, row: Row, accepted: Timestamp) -> Filing {
        let folder =
            self.sec.www(&format!("/Archives/edgar/data/{}/{}", self.cik, row.accession.replace('-', "")));
        Filing {
            is_amendment: is_amendment(&row.form),
            form: row.form,
            filing_date: row.filed.to_string(),
            report_date: row.report_date,
            acceptance_datetime: accepted.to_string(),
            document_url: row.document.as_ref().map(|name| format!("{folder}/{name}")),
            index_url: format!("{folder}/{}-index.htm", row.accession),
            primary_document: row.document,
            primary_doc_description: row.description,
            items: row.items,
            size_bytes: row.size,
            is_xbrl: row.is_xbrl,
            is_inline_xbrl: row.is_inline_xbrl,
            accession_number: row.accession,
            cik: names::padded(self.cik),
            ticker: self.ticker.clone(),
            document: None,
        }
    }
}

impl Found {
    /// That nothing was found, with the forms that there are.
    pub(super) fn nothing(self) -> Error {
        let forms: Vec<String> = self.forms.into_iter().take(FORMS_SHOWN).collect();
        Error::new(Code::NoMatchingFiling, "the company has no such filing")
            .with_detail("forms_available", forms)
    }
}

fn is_amendment(form: &str) -> bool {
    form.ends_with("/A")
}
