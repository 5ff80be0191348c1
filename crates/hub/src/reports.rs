//! Periodic reports: facts gathered, a document kept, and one message for each Membership that gets it.

mod deliver;
mod order;
mod shelf;

use std::time::Duration;

use loom_api::request;
use loom_capabilities::{HistoryFilter, PayloadStore, Row};
use loom_domain::{Error, Principal, Result, Timestamp};
use loom_report::{Facts, Form, Observed, Order, Report, Run, build};
use loom_secrets::{Profile, Redactor};

use crate::home::Home;
use crate::hub::Hub;

pub use deliver::Delivered;
pub use order::order_of;
pub use shelf::{Shelf, ShelfLine};

/// Runs of connectors that are read; beyond it the source is told as partial.
const RUNS_MAX: usize = 100_000;

/// A report and what was done with it.
#[derive(Debug, Clone)]
pub struct Reported {
    /// The document.
    pub report: Report,
    /// Whether it was made now; false when an equal run had made it.
    pub created: bool,
    /// What was sent where.
    pub deliveries: Vec<Delivered>,
}

impl Hub {
    /// Makes a report, or finds the one that an equal run has made, and delivers it.
    pub async fn report(&self, who: Principal, asked: request::Report, wait: Duration) -> Result<Reported> {
        self.report_as_of(self.now(), who, asked, wait).await
    }

    /// The same, with the window told from another time than now.
    pub(crate) async fn report_as_of(
        &self,
        now: Timestamp,
        who: Principal,
        asked: request::Report,
        wait: Duration,
    ) -> Result<Reported> {
        let order = order_of(&asked, &self.config().report, now)?;
        let forms = match asked.forms.as_deref() {
            Some(text) => Form::parse_list(text)?,
            None => vec![Form::Markdown, Form::Html],
        };
        let shelf = Shelf::new(self.home());
        if asked.preview {
            let report = self.render(&order).await?;
            return Ok(Reported { report, created: false, deliveries: Vec::new() });
        }
        let (report, created) = match shelf.of_run(&order.run_key())? {
            Some(report) => (report, false),
            None => {
                let report = self.render(&order).await?;
                shelf.keep(&report)?;
                (report, true)
            }
        };
        let mut deliveries = Vec::new();
        if asked.to.is_empty() {
            return Ok(Reported { report, created, deliveries });
        }
        let of_report = |error: Error| error.with_detail("report_id", report.report_id.clone());
        let files = deliver::files(self, &who, &report, &forms).await.map_err(of_report)?;
        for membership in &asked.to {
            let membership = membership.parse()?;
            let sent = deliver::deliver(self, who.clone(), &report, &files, &membership, wait).await;
            let told = |error: Error| of_report(error.with_detail("membership_id", membership.to_string()));
            deliveries.push(sent.map_err(told)?);
        }
        Ok(Reported { report, created, deliveries })
    }

    /// Builds the document of a window from what is recorded.
    async fn render(&self, order: &Order) -> Result<Report> {
        let window = &order.window;
        let mut facts = self.store().report_facts(window.start, window.end).await?;
        let (home, start, end) = (self.home().clone(), window.start, window.end);
        let read = move || runs_of(&home, start, end);
        facts.runs = tokio::task::spawn_blocking(read).await.map_err(Error::internal)?;
        build(order, &facts, &masks(self.redactor()))
    }
}

/// The report of a home without its hub: what only the hub knows is told as not observed.
pub fn without_hub(home: &Home, order: &Order, redactor: &Redactor) -> Result<Report> {
    let absent = "the hub is not running";
    let facts = Facts {
        connections: Observed::not_observed(absent),
        deliveries: Observed::not_observed(absent),
        items: Observed::not_observed(absent),
        refusals: Observed::not_observed(absent),
        turns: Observed::not_observed(absent),
        applies: Observed::not_observed(absent),
        runs: runs_of(home, order.window.start, order.window.end),
    };
    build(order, &facts, &masks(redactor))
}

fn masks(redactor: &Redactor) -> impl Fn(&str) -> String + use<> {
    let redactor = redactor.clone();
    move |text: &str| redactor.redact(text, Profile::Output).into_owned()
}

/// Runs of connectors that ended in a window.
fn runs_of(home: &Home, start: Timestamp, end: Timestamp) -> Observed<Run> {
    let filter = HistoryFilter { since: Some(start), limit: RUNS_MAX, ..HistoryFilter::default() };
    let Ok(rows) = PayloadStore::new(home.root()).history(&filter) else {
        return Observed::not_observed("the index of runs cannot be read");
    };
    let is_cut = rows.len() >= RUNS_MAX;
    let mut rows: Vec<Row> = rows.into_iter().filter(|row| row.time < end).collect();
    rows.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| a.run_id.cmp(&b.run_id)));
    let run = |row: Row| Run {
        connector: row.connector_id,
        at: row.time,
        ok: row.ok,
        code: row.code.map(|code| code.as_str().to_owned()),
        duration_ms: row.duration_ms,
    };
    let runs: Vec<Run> = rows.into_iter().map(run).collect();
    if is_cut {
        Observed::partial(runs, "the window holds more runs than are read")
    } else {
        Observed::complete(runs)
    }
}
