//! What the operations take: a schema for each, and one type that reads any of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filings that are listed unless told otherwise.
const LIMIT: u64 = 50;
/// Bytes of a document unless told otherwise: 20 MiB.
pub(super) const DOCUMENT_BYTES: u64 = 20 * 1024 * 1024;

/// A question about a company: the input of every operation, and what the library's functions take. An operation
/// refuses what it does not know. Days are `YYYY-MM-DD`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Ticker; `.` and `/` are taken for `-`. Either this or `cik`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticker: Option<String>,
    /// Central Index Key, 1 to 10 digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cik: Option<String>,
    /// Name and e-mail address for the SEC; else `LOOM_SEC_CONTACT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// Forms of filings; none means all (`filings`), or 10-K, 10-Q, 20-F and 40-F (`filing`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub form: Vec<String>,
    /// Whether a form also means its amendments; true unless said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amendments: Option<bool>,
    /// First day of filing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Last day of filing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Nothing that was accepted, or filed, after this day in New York.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Most filings, 1 to 10,000; 50 unless said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Accession number of one filing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accession: Option<String>,
    /// Whether the main document of the filing is read too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<bool>,
    /// New file for the document, mode 0600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_out: Option<String>,
    /// Most bytes of the document, 64 KiB to 100 MiB; 20 MiB unless said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_bytes_max: Option<u64>,
    /// `TAXONOMY:TAG`; none means all facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concept: Option<String>,
    /// Unit of facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Facts whose period ends on this day or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_from: Option<String>,
    /// Base URL in the place of both hosts of the SEC; the run's own setting, never part of an input.
    #[serde(skip)]
    pub api_url: Option<String>,
}

impl Query {
    /// A question about the company of a ticker.
    pub fn ticker(ticker: &str) -> Self {
        Query { ticker: Some(ticker.to_owned()), ..Query::default() }
    }

    /// A question about the company of a CIK.
    pub fn cik(cik: u64) -> Self {
        Query { cik: Some(cik.to_string()), ..Query::default() }
    }
}

/// Input of `probe` and `company`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct CompanyInput {
    /// Ticker, such as AAPL or BRK.B
    #[schemars(length(max = 20))]
    ticker: Option<String>,
    /// Central Index Key, 1 to 10 digits
    #[schemars(length(max = 10))]
    cik: Option<String>,
    /// Your name and e-mail address, for the SEC [default: `LOOM_SEC_CONTACT`]
    #[schemars(length(max = 200))]
    contact: Option<String>,
}

/// Input of `filings`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct FilingsInput {
    /// Ticker, such as AAPL or BRK.B
    #[schemars(length(max = 20))]
    ticker: Option<String>,
    /// Central Index Key, 1 to 10 digits
    #[schemars(length(max = 10))]
    cik: Option<String>,
    /// Your name and e-mail address, for the SEC [default: `LOOM_SEC_CONTACT`]
    #[schemars(length(max = 200))]
    contact: Option<String>,
    /// Forms, such as 10-K,8-K; a form means its amendments too
    #[schemars(length(max = 50), inner(length(max = 200)))]
    form: Option<Vec<String>>,
    /// Leave amendments out
    #[schemars(default = "yes")]
    amendments: bool,
    /// First day of filing
    #[schemars(extend("format" = "date"), length(max = 10))]
    since: Option<String>,
    /// Last day of filing
    #[schemars(extend("format" = "date"), length(max = 10))]
    until: Option<String>,
    /// Only what had been accepted at the end of this day in New York
    #[schemars(extend("format" = "date"), length(max = 10))]
    as_of: Option<String>,
    /// Most filings
    #[schemars(default = "limit", range(min = 1, max = 10_000))]
    limit: u64,
}

/// Input of `filing`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct FilingInput {
    /// Ticker, such as AAPL or BRK.B
    #[schemars(length(max = 20))]
    ticker: Option<String>,
    /// Central Index Key, 1 to 10 digits
    #[schemars(length(max = 10))]
    cik: Option<String>,
    /// Your name and e-mail address, for the SEC [default: `LOOM_SEC_CONTACT`]
    #[schemars(length(max = 200))]
    contact: Option<String>,
    /// Forms [default: 10-K,10-Q,20-F,40-F]
    #[schemars(length(max = 50), inner(length(max = 200)))]
    form: Option<Vec<String>>,
    /// Leave amendments out
    #[schemars(default = "yes")]
    amendments: bool,
    /// Only what had been accepted at the end of this day in New York
    #[schemars(extend("format" = "date"), length(max = 10))]
    as_of: Option<String>,
    /// The filing with this accession number, whatever its form
    #[schemars(length(max = 20))]
    accession: Option<String>,
    /// Read the main document too
    #[schemars(default)]
    document: bool,
    /// New file for the document
    #[schemars(length(max = 1000))]
    document_out: Option<String>,
    /// Most bytes of the document
    #[schemars(default = "document_bytes", range(min = 65_536, max = 104_857_600))]
    document_bytes_max: u64,
}

/// Input of `facts`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct FactsInput {
    /// Ticker, such as AAPL or BRK.B
    #[schemars(length(max = 20))]
    ticker: Option<String>,
    /// Central Index Key, 1 to 10 digits
    #[schemars(length(max = 10))]
    cik: Option<String>,
    /// Your name and e-mail address, for the SEC [default: `LOOM_SEC_CONTACT`]
    #[schemars(length(max = 200))]
    contact: Option<String>,
    /// One concept, such as us-gaap:NetIncomeLoss [default: all]
    #[schemars(length(max = 300))]
    concept: Option<String>,
    /// One unit, such as USD or USD/shares [default: all]
    #[schemars(length(max = 60))]
    unit: Option<String>,
    /// Only periods that end on this day or later
    #[schemars(extend("format" = "date"), length(max = 10))]
    period_from: Option<String>,
    /// Only what had been filed at the end of this day
    #[schemars(extend("format" = "date"), length(max = 10))]
    as_of: Option<String>,
}

fn yes() -> bool {
    true
}

fn limit() -> u64 {
    LIMIT
}

fn document_bytes() -> u64 {
    DOCUMENT_BYTES
}
