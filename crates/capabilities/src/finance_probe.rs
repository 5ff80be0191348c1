//! `finance_probe`: companies, filings and reported figures of SEC EDGAR; facts alone, never advice.

mod client;
mod contact;
mod decimal;
mod document;
mod facts;
mod input;
mod library;
mod names;
mod new_york;
mod output;
mod select;
mod submissions;
mod task;
mod tickers;

use async_trait::async_trait;
use loom_domain::{Error, Result};
use serde_json::{Value, json};

use crate::{
    Boundary, Capability, CatalogEntry, Cx, Operation, Readiness, RunOutcome, RunPlan, RunRequest, Sink,
    SourceRef, Status, StopReason,
};
use client::Sec;
use input::{CompanyInput, FactsInput, FilingInput, FilingsInput};
use select::{Search, Wanted};
use submissions::Submissions;
use task::{DocumentOrder, Kind, Target, Task};

pub use input::Query;
pub use library::{
    company, company_with, facts, facts_with, fetch_filing, fetch_filing_with, filing, filing_with, filings,
    filings_with,
};
pub use output::{Company, Document, Fact, Filing, FormerName};

/// Most facts of one answer.
const FACTS_MAX: u64 = 200_000;

/// The connector.
#[derive(Debug)]
pub struct FinanceProbe {
    entry: CatalogEntry,
}

impl FinanceProbe {
    /// Makes it.
    pub fn new() -> Self {
        let of_company = |id: &str| {
            Operation::record::<CompanyInput, Company>(id, "loom.sec_company/v1").about("What a company is")
        };
        let mut facts = Operation::list::<FactsInput, Fact>("facts", "loom.sec_facts/v1")
            .about("Reported figures, as the SEC orders them");
        facts.max_items = Some(FACTS_MAX);
        let operations = [
            of_company("probe"),
            of_company("company"),
            Operation::list::<FilingsInput, Filing>("filings", "loom.sec_filings/v1")
                .about("Filings, newest acceptance first")
                .paged(),
            Operation::list::<FilingInput, Filing>("filing", "loom.sec_filings/v1")
                .about("The newest filing that fits, and its document if asked for"),
            facts,
        ];
        let entry = CatalogEntry::connector("finance_probe", "Companies and filings of SEC EDGAR")
            .boundary(Boundary::PublicContent)
            .host("www.sec.gov", &["GET"])
            .host("data.sec.gov", &["GET"])
            .api_url_variable("LOOM_SEC_API_URL")
            .stop_condition("advice, score or forecast wanted")
            .examples(
                "value-connectors finance-probe filing --ticker AAPL",
                "value-connectors finance-probe facts --ticker AAPL \\\n    --concept us-gaap:NetIncomeLoss --as-of 2024-06-30",
            );
        let add = |entry: CatalogEntry, one: Operation| {
            entry.operation(one.resource("company").rate_scope(loom_transport::SCOPE_SEC))
        };
        let mut entry = operations.into_iter().fold(entry, add);
        "sec".clone_into(&mut entry.provider);
        FinanceProbe { entry }
    }
}

impl Default for FinanceProbe {
    fn default() -> Self {
        FinanceProbe::new()
    }
}

#[async_trait]
impl Capability for FinanceProbe {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    /// A contact may come with the input: that none is set keeps no operation from being tried.
    async fn readiness(&self, cx: &Cx, operation: Option<&str>) -> Readiness {
        let ready = Readiness::ready(&self.entry);
        match operation.is_none() && cx.variable(contact::VARIABLE).is_none() {
            true => ready.all_without(Status::NotConfigured, "set LOOM_SEC_CONTACT, or give --contact"),
            false => ready,
        }
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let task = Task::read(request)?;
        let base = request.settings.api_url.as_deref().map(|url| url.trim_end_matches('/'));
        let (www, data) = (base.unwrap_or(client::WWW), base.unwrap_or(client::DATA));
        let plan = RunPlan::of(&self.entry, request)?.resource("company", task.target.name());
        let (plan, cik) = match task.target {
            Target::Ticker(_) => (plan.request("GET", format!("{www}{}", tickers::PATH)), None),
            Target::Cik(cik) => (plan, Some(cik)),
        };
        let path = match task.kind {
            Kind::Facts(wanted) => wanted.path(cik),
            _ => submissions::path(cik),
        };
        Ok(plan.request("GET", format!("{data}{path}")))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let task = Task::read(&request)?;
        let sec = Sec::open(cx, task.contact.as_deref())?;
        let mut of = Of { cik: 0, ticker: None, sources: Vec::new() };
        match task.target {
            Target::Cik(cik) => of.cik = cik,
            Target::Ticker(ticker) => {
                let (cik, source) = tickers::find(&sec, &ticker).await?;
                of = Of { cik, ticker: Some(ticker), sources: vec![source] };
            }
        }
        match task.kind {
            Kind::Company => {
                let submissions = of.submissions(&sec).await?;
                out.fields(value(&submissions.company(of.cik)?)?);
                Ok(of.outcome())
            }
            Kind::Filings(wanted) => of.filings(&sec, &wanted, out).await,
            Kind::Filing(wanted, order) => of.filing(&sec, &wanted, order, out).await,
            Kind::Facts(wanted) => {
                let (source, stop_reason) = facts::give(&sec, of.cik, &wanted, out).await?;
                of.sources.push(source);
                Ok(RunOutcome { stop_reason, ..of.outcome() })
            }
        }
    }
}

/// The company of a run, and where its facts come from.
struct Of {
    cik: u64,
    ticker: Option<String>,
    sources: Vec<SourceRef>,
}

impl Of {
    async fn submissions(&mut self, sec: &Sec<'_>) -> Result<Submissions> {
        let (submissions, seen, url) = submissions::read(sec, self.cik).await?;
        self.sources.push(seen.source("sec_submissions", &url));
        Ok(submissions)
    }

    fn search<'a>(&self, sec: &'a Sec<'a>, wanted: &'a Wanted) -> Search<'a> {
        Search { sec, cik: self.cik, ticker: self.ticker.clone(), wanted }
    }

    async fn filings(mut self, sec: &Sec<'_>, wanted: &Wanted, out: &mut dyn Sink) -> Result<RunOutcome> {
        let submissions = self.submissions(sec).await?;
        let mut given = 0;
        let found = self
            .search(sec, wanted)
            .run(submissions, |filing, cursor| {
                let flow = out.item(json!(filing));
                given += 1;
                out.progress(given, None);
                out.checkpoint(&cursor);
                flow
            })
            .await?;
        let cursor = found.cursor.filter(|_| found.stop_reason != StopReason::End);
        Ok(RunOutcome { stop_reason: found.stop_reason, cursor, ..self.outcome() })
    }

    async fn filing(
        mut self,
        sec: &Sec<'_>,
        wanted: &Wanted,
        order: Option<DocumentOrder>,
        out: &mut dyn Sink,
    ) -> Result<RunOutcome> {
        let place = order.as_ref().map(|order| document::Place::open(sec.cx, order)).transpose()?;
        let submissions = self.submissions(sec).await?;
        let mut newest = None;
        let found = self
            .search(sec, wanted)
            .run(submissions, |filing, _| {
                newest = Some(filing);
                crate::Flow::Continue
            })
            .await?;
        let Some(mut filing) = newest else { return Err(found.nothing()) };
        if let (Some(order), Some(place)) = (order, place) {
            let (document, source) = document::read(sec, &filing, &order, place).await?;
            filing.document = Some(document);
            self.sources.push(source);
        }
        let _ = out.item(value(&filing)?);
        Ok(self.outcome())
    }

    fn outcome(self) -> RunOutcome {
        RunOutcome { source_refs: self.sources, ..RunOutcome::default() }
    }
}

fn value<T: serde::Serialize>(of: &T) -> Result<Value> {
    serde_json::to_value(of).map_err(Error::internal)
}

#[cfg(test)]
mod tests;
