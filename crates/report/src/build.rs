//! From facts to the document.

use loom_domain::Result;
use serde::Serialize;
use serde_json::json;

use crate::document::{Report, SCHEMA, SourceLine, digest_of};
use crate::sections::{self, Told};
use crate::words::{self, Lang};
use crate::{Facts, Observed, Profile, Source, Window};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Profile.
    pub profile: Profile,
    /// Window.
    pub window: Window,
    /// Language.
    pub lang: Lang,
    /// Version of Loom.
    pub version: String,
}

impl Order {
    /// What makes two runs one: profile, window, zone, language and version.
    pub fn run_key(&self) -> String {
        digest_of(&json!({
            "profile": self.profile, "window": self.window, "language": self.lang, "version": self.version,
        }))
    }
}

/// Builds the document. `mask` hides what must not leave; every text passes it.
pub fn build(order: &Order, facts: &Facts, mask: &dyn Fn(&str) -> String) -> Result<Report> {
    let buckets = order.window.buckets()?;
    let scene = sections::Scene { order, facts, buckets: &buckets };
    let mut told = Told::default();
    for source in Source::ALL.into_iter().filter(|source| order.profile.tells(*source)) {
        sections::tell(source, &scene, &mut told);
    }
    told.mask(mask);
    let report = Report {
        schema_version: SCHEMA.to_owned(),
        report_id: String::new(),
        title: words::title(order.lang, &order.profile.name),
        profile: order.profile.name.clone(),
        window: order.window.clone(),
        language: order.lang,
        version: order.version.clone(),
        generated_at: order.window.end,
        run_key: order.run_key(),
        sources: sources(order, facts)?,
        summary: told.summary,
        sections: told.sections,
        charts: told.charts,
        digest: String::new(),
    };
    report.seal()
}

fn sources(order: &Order, facts: &Facts) -> Result<Vec<SourceLine>> {
    let mut lines = Vec::new();
    for source in Source::ALL.into_iter().filter(|source| order.profile.tells(*source)) {
        lines.extend(match source {
            Source::Connections => vec![line("connections", &facts.connections)?],
            Source::Deliveries => vec![line("deliveries", &facts.deliveries)?],
            Source::Inbox => vec![line("inbox", &facts.items)?, line("refusals", &facts.refusals)?],
            Source::Connectors => vec![line("connectors", &facts.runs)?],
            Source::Turns => vec![line("turns", &facts.turns)?],
            Source::Branch => vec![line("integration_branch", &facts.applies)?],
            Source::PrQueues => vec![absent("pr_queues")],
            Source::Registry => vec![absent("registry")],
            Source::Updates => vec![absent("updates")],
            // Told from the records of the sources above.
            Source::Queues | Source::Failures | Source::Costs => Vec::new(),
        });
    }
    Ok(lines)
}

fn line<T: Serialize>(name: &str, observed: &Observed<T>) -> Result<SourceLine> {
    let records = serde_json::to_value(&observed.records).map_err(loom_domain::Error::internal)?;
    Ok(SourceLine {
        name: name.to_owned(),
        state: observed.state,
        note: observed.note.clone(),
        records: observed.records.len(),
        digest: observed.is_observed().then(|| digest_of(&records)),
    })
}

fn absent(name: &str) -> SourceLine {
    let observed = Observed::<()>::not_observed("nothing records it yet");
    SourceLine { name: name.to_owned(), state: observed.state, note: observed.note, records: 0, digest: None }
}
