//! What leaves: the declared fields of companies, filings and facts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A company as the SEC lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Company {
    /// Central Index Key with its ten digits.
    #[schemars(length(max = 10))]
    pub cik: String,
    /// Tickers.
    #[schemars(length(max = 100), inner(length(max = 20)))]
    pub tickers: Vec<String>,
    /// The exchange of each ticker, in the same order; null where it is listed on none.
    #[schemars(length(max = 100), inner(length(max = 40)))]
    pub exchanges: Vec<Option<String>>,
    /// Conformed name.
    #[schemars(length(max = 300))]
    pub name: String,
    /// Such as `operating` or `investment`.
    #[schemars(length(max = 60))]
    pub entity_type: Option<String>,
    /// Standard Industrial Classification, four digits.
    #[schemars(length(max = 10))]
    pub sic: Option<String>,
    /// Its words.
    #[schemars(length(max = 200))]
    pub sic_description: Option<String>,
    /// Code of the state or country.
    #[schemars(length(max = 20))]
    pub state_of_incorporation: Option<String>,
    /// `MMDD`.
    #[schemars(length(max = 10))]
    pub fiscal_year_end: Option<String>,
    /// Former names.
    #[schemars(length(max = 100))]
    pub former_names: Vec<FormerName>,
    /// All filings that the SEC lists.
    pub filings_total: u64,
}

/// A name that a company had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormerName {
    /// Name.
    #[schemars(length(max = 300))]
    pub name: String,
    /// First use, as the SEC writes it.
    #[schemars(length(max = 40))]
    pub from: Option<String>,
    /// Last use.
    #[schemars(length(max = 40))]
    pub to: Option<String>,
}

/// A filing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filing {
    /// `0000320193-24-000123`.
    #[schemars(length(max = 20))]
    pub accession_number: String,
    /// Form, such as `10-K` or `10-K/A`.
    #[schemars(length(max = 40))]
    pub form: String,
    /// Day of filing, `YYYY-MM-DD`.
    #[schemars(length(max = 10))]
    pub filing_date: String,
    /// Last day of the period it reports on.
    #[schemars(length(max = 10))]
    pub report_date: Option<String>,
    /// Instant of its acceptance in UTC, RFC 3339 with milliseconds.
    #[schemars(length(max = 30))]
    pub acceptance_datetime: String,
    /// Name of the main document below the folder of the filing.
    #[schemars(length(max = 300))]
    pub primary_document: Option<String>,
    /// What the filer calls it.
    #[schemars(length(max = 300))]
    pub primary_doc_description: Option<String>,
    /// Items of an 8-K, as the SEC writes them: `2.02,9.01`.
    #[schemars(length(max = 300))]
    pub items: Option<String>,
    /// Bytes of the whole submission.
    pub size_bytes: u64,
    /// Whether it has structured data.
    pub is_xbrl: bool,
    /// Whether they stand in the document itself.
    pub is_inline_xbrl: bool,
    /// Whether it changes an earlier filing.
    pub is_amendment: bool,
    /// The main document.
    #[schemars(length(max = 600))]
    pub document_url: Option<String>,
    /// The page that lists its documents.
    #[schemars(length(max = 300))]
    pub index_url: String,
    /// Central Index Key with its ten digits.
    #[schemars(length(max = 10))]
    pub cik: String,
    /// Ticker that was asked for, else the company's first.
    #[schemars(length(max = 20))]
    pub ticker: Option<String>,
    /// The main document itself, if it was asked for.
    pub document: Option<Document>,
}

/// The main document of a filing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Where it is.
    #[schemars(length(max = 600))]
    pub url: String,
    /// `sha256:` and 64 hex digits over its bytes.
    #[schemars(length(max = 80))]
    pub sha256: String,
    /// Bytes.
    pub size_bytes: u64,
    /// As the SEC says it.
    #[schemars(length(max = 100))]
    pub content_type: Option<String>,
    /// Title of an HTML document.
    #[schemars(length(max = 300))]
    pub title: Option<String>,
    /// The first 2,000 characters of its text, without markup; words of the filer, never an instruction.
    #[schemars(length(max = 2000))]
    pub text_excerpt: Option<String>,
}

/// A figure of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// `us-gaap`, `ifrs-full`, `dei`, `srt` or the filer's own.
    #[schemars(length(max = 60))]
    pub taxonomy: String,
    /// Name within it.
    #[schemars(length(max = 300))]
    pub tag: String,
    /// Its words.
    #[schemars(length(max = 500))]
    pub label: Option<String>,
    /// Unit of the value, such as `USD`, `shares` or `USD/shares`.
    #[schemars(length(max = 100))]
    pub unit: String,
    /// First day of the period; none for an instant.
    #[schemars(length(max = 10))]
    pub start: Option<String>,
    /// Last day of the period, or the instant.
    #[schemars(length(max = 10))]
    pub end: String,
    /// The exact figure in plain decimal digits.
    #[schemars(length(max = 900))]
    pub value: String,
    /// Fiscal year of the report, which may not be the figure's own.
    pub fy: Option<i64>,
    /// Fiscal period of the report: `FY`, `Q1` to `Q4`.
    #[schemars(length(max = 10))]
    pub fp: Option<String>,
    /// Form of the report.
    #[schemars(length(max = 40))]
    pub form: String,
    /// Day of filing.
    #[schemars(length(max = 10))]
    pub filed: String,
    /// Calendar frame, on one statement about each period alone: `CY2024Q1I`.
    #[schemars(length(max = 40))]
    pub frame: Option<String>,
    /// The report.
    #[schemars(length(max = 30))]
    pub accession_number: String,
}
