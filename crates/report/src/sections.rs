//! What each source contributes: a table, charts, and lines of the summary.

mod branch;
mod connections;
mod connectors;
mod costs;
mod deliveries;
mod failures;
mod inbox;
mod queues;
mod turns;

use loom_domain::Timestamp;

use crate::document::{Section, SummaryLine};
use crate::{Bucket, Chart, Facts, Observed, Order, Source};

/// Rows of a table; what is beyond is told as one number.
const ROWS_MAX: usize = 100;
/// Bars of a ranking.
pub(crate) const RANKS_MAX: usize = 10;

/// What sections are written from.
pub(crate) struct Scene<'a> {
    pub(crate) order: &'a Order,
    pub(crate) facts: &'a Facts,
    pub(crate) buckets: &'a [Bucket],
}

/// A number of the summary.
pub(crate) struct Count(String);

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Count(crate::chart::grouped(count))
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Count::from(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

/// What was told so far.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) summary: Vec<SummaryLine>,
    pub(crate) sections: Vec<Section>,
    pub(crate) charts: Vec<Chart>,
}

/// Tells of one source.
pub(crate) fn tell(source: Source, scene: &Scene<'_>, told: &mut Told) {
    match source {
        Source::Connections => connections::tell(scene, told),
        Source::Deliveries => deliveries::tell(scene, told),
        Source::Inbox => inbox::tell(scene, told),
        Source::Queues => queues::tell(scene, told),
        Source::Connectors => connectors::tell(scene, told),
        Source::Turns => turns::tell(scene, told),
        Source::Failures => failures::tell(scene, told),
        Source::Costs => costs::tell(scene, told),
        Source::Branch => branch::tell(scene, told),
        Source::PrQueues => told.absent(scene, "pr_queues", "Pull request queues"),
        Source::Registry => told.absent(scene, "registry", "Registry"),
        Source::Updates => told.absent(scene, "updates", "Updates"),
    }
}

impl Scene<'_> {
    pub(crate) fn word(&self, english: &str) -> String {
        self.order.lang.word(english)
    }

    pub(crate) fn words<const N: usize>(&self, english: [&str; N]) -> Vec<String> {
        english.map(|word| self.word(word)).into()
    }

    /// A time as people of the zone write it.
    pub(crate) fn wall(&self, at: Option<Timestamp>) -> String {
        at.map_or_else(|| "-".to_owned(), |at| self.order.window.wall(at))
    }

    pub(crate) fn labels(&self) -> Vec<String> {
        self.buckets.iter().map(|bucket| bucket.label.clone()).collect()
    }

    /// The place of a time among the days.
    pub(crate) fn place(&self, at: Timestamp) -> Option<usize> {
        self.buckets.iter().position(|bucket| bucket.start <= at && at < bucket.end)
    }
}

impl Told {
    /// Adds a section of a source; one that was not asked says so.
    pub(crate) fn section<T>(
        &mut self,
        scene: &Scene<'_>,
        (id, title): (&str, &str),
        observed: &Observed<T>,
        columns: Vec<String>,
        mut rows: Vec<Vec<String>>,
    ) {
        if !observed.is_observed() {
            return self.absent(scene, id, title);
        }
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        let note = match more {
            0 if rows.is_empty() => Some(scene.word("No data in this window")),
            0 => None,
            more => Some(format!("+{more}")),
        };
        self.sections.push(Section { id: id.to_owned(), title: scene.word(title), note, columns, rows });
    }

    pub(crate) fn absent(&mut self, scene: &Scene<'_>, id: &str, title: &str) {
        let note = Some(scene.word("Not observed"));
        let (id, title) = (id.to_owned(), scene.word(title));
        self.sections.push(Section { id, title, note, columns: Vec::new(), rows: Vec::new() });
    }

    pub(crate) fn line(&mut self, scene: &Scene<'_>, key: &str, label: &str, value: impl Into<Count>) {
        let (key, label, Count(value)) = (key.to_owned(), scene.word(label), value.into());
        self.summary.push(SummaryLine { key, label, value });
    }

    /// Hides what must not leave in every text that came with the facts.
    pub(crate) fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        let hide = |text: &mut String| *text = mask(text);
        for section in &mut self.sections {
            section.rows.iter_mut().flatten().for_each(hide);
        }
        for chart in &mut self.charts {
            chart.labels.iter_mut().for_each(hide);
            chart.series.iter_mut().for_each(|series| hide(&mut series.name));
        }
    }
}
