//! What is asked for, read and judged before anything is opened.

use jiff::civil::Date;
use loom_domain::Result;

use super::input::{DOCUMENT_BYTES, Query};
use super::names::{self, wrong};
use super::select::{Key, Wanted};
use crate::{RunRequest, read_input};

/// Forms of annual and quarterly reports.
const REPORTS: &[&str] = &["10-K", "10-Q", "20-F", "40-F"];
/// Most filings of one list.
const FILINGS_MAX: u64 = 10_000;
/// Tables of filings that are read unless told otherwise.
const PAGES: u32 = 100;

/// The company that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Ticker(String),
    Cik(u64),
}

/// One operation with its typed input.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) target: Target,
    pub(super) contact: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Company,
    Filings(Wanted),
    Filing(Wanted, Option<DocumentOrder>),
    Facts(FactsWanted),
}

/// How the document of a filing is read.
#[derive(Debug)]
pub(super) struct DocumentOrder {
    pub(super) bytes_max: u64,
    pub(super) out: Option<String>,
}

/// Which facts are wanted.
#[derive(Debug, Default)]
pub(super) struct FactsWanted {
    pub(super) concept: Option<(String, String)>,
    pub(super) unit: Option<String>,
    pub(super) period_from: Option<Date>,
    pub(super) as_of: Option<Date>,
}

impl Task {
    pub(super) fn read(request: &RunRequest) -> Result<Task> {
        let query: Query = read_input(request)?;
        let target = match (&query.ticker, &query.cik) {
            (Some(ticker), None) => Target::Ticker(names::ticker(ticker)?),
            (None, Some(cik)) => Target::Cik(names::cik(cik)?),
            (None, None) => return Err(wrong("/ticker", "a ticker or a CIK is needed")),
            (Some(_), Some(_)) => return Err(wrong("/cik", "give a ticker or a CIK, not both")),
        };
        let kind = match request.operation.as_str() {
            "filings" => Kind::Filings(filings(&query, request)?),
            "filing" => Kind::Filing(filing(&query, request)?, document(&query)?),
            "facts" => Kind::Facts(facts(&query)?),
            _ => Kind::Company,
        };
        Ok(Task { target, contact: query.contact, kind })
    }
}

impl Target {
    /// As grants and plans name it.
    pub(super) fn name(&self) -> String {
        match self {
            Target::Ticker(ticker) => ticker.clone(),
            Target::Cik(cik) => format!("CIK{}", names::padded(*cik)),
        }
    }
}

fn filings(query: &Query, request: &RunRequest) -> Result<Wanted> {
    let limit = query.limit.or(request.limits.limit).unwrap_or(FILINGS_MAX).clamp(1, FILINGS_MAX);
    Ok(Wanted {
        forms: names::forms(&query.form)?,
        amendments: query.amendments.unwrap_or(true),
        since: names::given_day("since", query.since.as_deref())?,
        until: names::given_day("until", query.until.as_deref())?,
        as_of: names::given_day("as_of", query.as_of.as_deref())?,
        after: request.cursor.as_ref().map(Key::of_cursor).transpose()?,
        limit: usize::try_from(limit).unwrap_or(1),
        pages_max: request.limits.max_pages.unwrap_or(PAGES),
        accession: None,
    })
}

fn filing(query: &Query, request: &RunRequest) -> Result<Wanted> {
    let accession = query.accession.as_deref().map(names::accession).transpose()?;
    let mut wanted = Wanted { limit: 1, after: None, ..filings(query, request)? };
    if wanted.forms.is_empty() && accession.is_none() {
        wanted.forms = REPORTS.iter().map(|form| (*form).to_owned()).collect();
    }
    wanted.accession = accession;
    Ok(wanted)
}

fn document(query: &Query) -> Result<Option<DocumentOrder>> {
    let order = DocumentOrder {
        bytes_max: query.document_bytes_max.unwrap_or(DOCUMENT_BYTES),
        out: query.document_out.clone(),
    };
    match (query.document.unwrap_or(false), &order.out) {
        (true, _) => Ok(Some(order)),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(wrong("/document_out", "say --document to read the document")),
    }
}

fn facts(query: &Query) -> Result<FactsWanted> {
    Ok(FactsWanted {
        concept: query.concept.as_deref().map(names::concept).transpose()?,
        unit: query.unit.as_deref().map(names::unit).transpose()?,
        period_from: names::given_day("period_from", query.period_from.as_deref())?,
        as_of: names::given_day("as_of", query.as_of.as_deref())?,
    })
}
