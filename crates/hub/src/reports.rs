//! Periodic reports: facts gathered, a document kept, and one message for each Membership that gets it.

mod deliver;
mod order;
mod shelf;

use std::time::Duration;

use loom_api::request;
use loom_capabilities::{HistoryFilter, PayloadStore, Row, blocking};
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
        let (known, run_key) = (shelf.clone(), order.run_key());
        let (report, created) = match blocking(move || known.of_run(&run_key)).await? {
            Some(report) => (report, false),
            None => {
                let report = self.render(&order).await?;
                let keep = move || shelf.keep(&report).map(|()| report);
                (blocking(keep).await?, true)
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
        let facts = self.store().report_facts(window.start, window.end).await?;
        built(self.home().clone(), order.clone(), facts, masks(self.redactor())).await
    }
}

/// Reads the runs and makes the document, beside the tasks that serve: a window can hold very many facts.
async fn built(
    home: Home,
    order: Order,
    mut facts: Facts,
    mask: impl Fn(&str) -> String + Send + 'static,
) -> Result<Report> {
    let build = move || {
        facts.runs = runs_of(&home, order.window.start, order.window.end);
        build(&order, &facts, &mask)
    };
    blocking(build).await
}

/// The report of a home without its hub: what only the hub knows is told as not observed.
pub fn without_hub(home: &Home, order: &Order, redactor: &Redactor) -> Result<Report> {
    let runs = runs_of(home, order.window.start, order.window.end);
    build(order, &Facts { runs, ..nothing_observed("the hub is not running") }, &masks(redactor))
}

/// Facts of which none was asked for.
fn nothing_observed(why: &str) -> Facts {
    Facts {
        connections: Observed::not_observed(why),
        deliveries: Observed::not_observed(why),
        items: Observed::not_observed(why),
        refusals: Observed::not_observed(why),
        turns: Observed::not_observed(why),
        applies: Observed::not_observed(why),
        runs: Observed::not_observed(why),
    }
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::*;

    /// CAP-134: whatever a window holds, no task that serves waits for its report.
    #[tokio::test]
    async fn cap_134_a_report_is_built_beside_the_tasks_that_serve() {
        let home = tempfile::tempdir().unwrap();
        let asked = request::Report::default();
        let order = order_of(&asked, &crate::config::ReportSection::default(), Timestamp(1_800_000_000_000));
        let builder = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&builder);
        let mask = move |text: &str| {
            *seen.lock().unwrap() = Some(thread::current().id());
            text.to_owned()
        };
        let facts = nothing_observed("nobody asked");
        let report = built(Home::new(home.path()), order.unwrap(), facts, mask).await.unwrap();
        assert!(report.is_whole());
        let builder = builder.lock().unwrap().unwrap();
        assert_ne!(builder, thread::current().id());
    }
}
