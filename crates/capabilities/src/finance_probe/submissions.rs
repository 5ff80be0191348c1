//! The submissions of a company: what it is, its newest filings, and where the older ones are.
//!
//! Source: «EDGAR Application Programming Interfaces», submissions,
//! <https://www.sec.gov/search-filings/edgar-application-programming-interfaces>.

use std::collections::HashMap;

use jiff::civil::{Date, DateTime};
use loom_domain::Result;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::client::{Sec, Seen, unreadable};
use super::names;
use super::new_york::stamp;
use super::output::{Company, FormerName};

/// Most rows of one table.
const ROWS_MAX: usize = 200_000;
/// Most pages of older filings.
const PAGES_MAX: usize = 10_000;
/// Longest name of a document.
const DOCUMENT_CHARS_MAX: usize = 300;

/// `CIK##########.json`.
#[derive(Deserialize)]
pub(super) struct Submissions {
    cik: Value,
    name: String,
    #[serde(rename = "entityType")]
    entity_type: Option<String>,
    sic: Option<String>,
    #[serde(rename = "sicDescription")]
    sic_description: Option<String>,
    pub(super) tickers: Vec<String>,
    exchanges: Vec<Option<String>>,
    #[serde(rename = "stateOfIncorporation")]
    state_of_incorporation: Option<String>,
    #[serde(rename = "fiscalYearEnd")]
    fiscal_year_end: Option<String>,
    #[serde(rename = "formerNames", default)]
    former_names: Vec<FormerName>,
    filings: Filings,
}

#[derive(Deserialize)]
struct Filings {
    recent: Map<String, Value>,
    files: Vec<File>,
}

/// A page of older filings.
#[derive(Deserialize)]
struct File {
    name: String,
    #[serde(rename = "filingCount")]
    count: u64,
    #[serde(rename = "filingFrom")]
    from: String,
    #[serde(rename = "filingTo")]
    to: String,
}

/// A page with its days, to be read when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) name: String,
    pub(super) from: Date,
    pub(super) to: Date,
}

/// A filing as its columns say it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) accession: String,
    pub(super) form: String,
    pub(super) filed: Date,
    pub(super) report_date: Option<String>,
    pub(super) stamp: DateTime,
    pub(super) document: Option<String>,
    pub(super) description: Option<String>,
    pub(super) items: Option<String>,
    pub(super) size: u64,
    pub(super) is_xbrl: bool,
    pub(super) is_inline_xbrl: bool,
}

/// Reads the submissions of a company.
pub(super) async fn read(sec: &Sec<'_>, cik: u64) -> Result<(Submissions, Seen, String)> {
    let url = sec.data(&path(Some(cik)));
    let (found, seen): (Submissions, Seen) = sec.json(&url).await?;
    let own = match &found.cik {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    if own != Some(cik) {
        return Err(unreadable("the submissions are those of another company"));
    }
    Ok((found, seen, url))
}

/// Where the submissions of a company are; of one whose CIK is not known yet, in a plan.
pub(super) fn path(cik: Option<u64>) -> String {
    format!("/submissions/CIK{}.json", cik.map_or_else(|| "{cik}".to_owned(), names::padded))
}

/// Reads a page of older filings.
pub(super) async fn read_page(sec: &Sec<'_>, page: &Page) -> Result<Vec<Row>> {
    let url = sec.data(&format!("/submissions/{}", page.name));
    let (table, _): (Map<String, Value>, Seen) = sec.json(&url).await?;
    rows(table)
}

impl Submissions {
    /// What the company is.
    pub(super) fn company(self, cik: u64) -> Result<Company> {
        let recent = rows(self.filings.recent)?.len() as u64;
        let older = self.filings.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.count));
        Ok(Company {
            cik: names::padded(cik),
            tickers: self.tickers,
            exchanges: self.exchanges,
            name: self.name,
            entity_type: filled(self.entity_type),
            sic: filled(self.sic),
            sic_description: filled(self.sic_description),
            state_of_incorporation: filled(self.state_of_incorporation),
            fiscal_year_end: filled(self.fiscal_year_end),
            former_names: self.former_names,
            filings_total: recent.saturating_add(older),
        })
    }

    /// The newest filings, and the pages of older ones, newest first.
    pub(super) fn filings(self, cik: u64) -> Result<(Vec<Row>, Vec<Page>)> {
        if self.filings.files.len() > PAGES_MAX {
            return Err(unreadable("the submissions have too many pages"));
        }
        let pages = self.filings.files.into_iter().map(|file| file.page(cik));
        let mut pages: Vec<Page> = pages.collect::<Result<_>>()?;
        pages.sort_by_key(|page| std::cmp::Reverse((page.to, page.from)));
        Ok((rows(self.filings.recent)?, pages))
    }
}

impl File {
    fn page(self, cik: u64) -> Result<Page> {
        // The name becomes part of a path.
        let number = self.name.strip_prefix(&format!("CIK{}-submissions-", names::padded(cik)));
        let number = number.and_then(|rest| rest.strip_suffix(".json")).unwrap_or_default();
        let is_page = (1..=6).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        match (names::day(&self.from), names::day(&self.to)) {
            (Some(from), Some(to)) if is_page => Ok(Page { name: self.name, from, to }),
            _ => Err(unreadable("a page of older filings does not have the expected form")),
        }
    }
}

/// The rows of a table of columns. Every column has the same length, also those that nobody reads.
pub(super) fn rows(table: Map<String, Value>) -> Result<Vec<Row>> {
    let mut columns = Columns(HashMap::new());
    let mut length = None;
    for (name, column) in table {
        let Value::Array(cells) = column else {
            return Err(unreadable("a column of filings is no list").with_detail("column", shown(&name)));
        };
        if *length.get_or_insert(cells.len()) != cells.len() {
            return Err(
                unreadable("the columns of filings have unequal lengths").with_detail("column", shown(&name))
            );
        }
        columns.0.insert(name, cells.into_iter());
    }
    let length = length.unwrap_or(0);
    if length > ROWS_MAX {
        return Err(unreadable("a table of filings is too long"));
    }
    // An empty table has its columns too.
    columns.require(COLUMNS)?;
    (0..length).map(|_| columns.row()).collect()
}

const COLUMNS: &[&str] = &[
    "accessionNumber",
    "filingDate",
    "reportDate",
    "acceptanceDateTime",
    "form",
    "items",
    "size",
    "isXBRL",
    "isInlineXBRL",
    "primaryDocument",
    "primaryDocDescription",
];

struct Columns(HashMap<String, std::vec::IntoIter<Value>>);

impl Columns {
    fn require(&self, names: &[&str]) -> Result<()> {
        match names.iter().find(|name| !self.0.contains_key(**name)) {
            None => Ok(()),
            Some(name) => Err(unreadable("a column of filings is missing").with_detail("column", *name)),
        }
    }

    fn row(&mut self) -> Result<Row> {
        let accession = self.text("accessionNumber")?;
        if !names::is_accession(&accession) {
            return Err(strange("accessionNumber"));
        }
        Ok(Row {
            accession,
            form: filled(Some(self.text("form")?)).ok_or_else(|| strange("form"))?,
            filed: names::day(&self.text("filingDate")?).ok_or_else(|| strange("filingDate"))?,
            report_date: self.day_or_nothing("reportDate")?,
            stamp: stamp(&self.text("acceptanceDateTime")?).ok_or_else(|| strange("acceptanceDateTime"))?,
            document: filled(Some(self.text("primaryDocument")?)).filter(|name| is_document(name)),
            description: filled(Some(self.text("primaryDocDescription")?)),
            items: filled(Some(self.text("items")?)),
            size: self.next("size").as_u64().ok_or_else(|| strange("size"))?,
            is_xbrl: self.flag("isXBRL")?,
            is_inline_xbrl: self.flag("isInlineXBRL")?,
        })
    }

    fn next(&mut self, name: &str) -> Value {
        self.0.get_mut(name).and_then(Iterator::next).unwrap_or_default()
    }

    /// Text; what the SEC leaves out is empty.
    fn text(&mut self, name: &str) -> Result<String> {
        match self.next(name) {
            Value::String(text) => Ok(text),
            Value::Null => Ok(String::new()),
            _ => Err(strange(name)),
        }
    }

    fn day_or_nothing(&mut self, name: &str) -> Result<Option<String>> {
        match self.text(name)? {
            text if text.is_empty() => Ok(None),
            text if names::day(&text).is_some() => Ok(Some(text)),
            _ => Err(strange(name)),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool> {
        match self.next(name) {
            Value::Bool(flag) => Ok(flag),
            Value::Number(number) => number.as_u64().map(|n| n != 0).ok_or_else(|| strange(name)),
            _ => Err(strange(name)),
        }
    }
}

/// A relative path of plain names: it becomes part of a URL.
fn is_document(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    };
    name.len() <= DOCUMENT_CHARS_MAX && name.split('/').all(is_plain)
}

fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn strange(column: &str) -> loom_domain::Error {
    unreadable("a filing does not have the expected form").with_detail("column", column)
}

fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use loom_domain::Code;
    use serde_json::json;

    use super::*;

    fn table() -> Map<String, Value> {
        let table = json!({
            "accessionNumber": ["0000000077-24-000001"], "filingDate": ["2024-02-02"], "reportDate": [""],
            "acceptanceDateTime": ["2024-02-01T23:00:00.000Z"], "form": ["10-K"], "items": [""], "size": [7],
            "isXBRL": [1], "isInlineXBRL": [0], "primaryDocument": ["a/b.htm"], "primaryDocDescription": [null],
            "act": ["34"],
        });
        table.as_object().unwrap().clone()
    }

    /// CAP-103: a table that does not fit gives no rows at all.
    #[test]
    fn cap_103_a_strange_table_gives_no_rows() {
        let row = &rows(table()).unwrap()[0];
        assert_eq!(
            (row.document.as_deref(), row.is_xbrl, row.is_inline_xbrl),
            (Some("a/b.htm"), true, false)
        );
        for name in COLUMNS.iter().chain(&["act"]) {
            let mut longer = table();
            longer.get_mut(*name).unwrap().as_array_mut().unwrap().push(json!(null));
            assert_eq!(rows(longer).unwrap_err().code, Code::ProviderProtocolError, "{name} longer");
        }
        for name in COLUMNS {
            let mut without = table();
            without.remove(*name);
            assert_eq!(rows(without).unwrap_err().detail["column"], *name);
            let mut strange = table();
            strange.insert((*name).to_owned(), json!([{}]));
            assert_eq!(rows(strange).unwrap_err().code, Code::ProviderProtocolError, "{name} strange");
        }
        let mut outside = table();
        outside.insert("primaryDocument".into(), json!(["../../etc/x"]));
        assert_eq!(rows(outside).unwrap()[0].document, None);
    }
}
