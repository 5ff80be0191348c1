//! Metrics of what a watcher sees (capabilities 10.3, platform D.3). Labels come from closed lists and the catalog.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loom_domain::Timestamp;

use super::document::{Facts, seconds};
use super::tally::{Key, Told};

/// Series told at most.
const SERIES_MAX: usize = 2_000;

/// Writes them as `OpenMetrics` text.
pub(super) fn text(facts: &Facts, told: &Told) -> String {
    let mut out = Lines::default();
    if let Some(figures) = &facts.figures {
        out.gauge("inbox_items", "Open Inbox items", &of_state(&figures.stats.inbox));
        out.gauge("outbox_parts", "Open Parts", &of_state(&figures.parts));
        let age = |at: Option<Timestamp>| at.map_or(0, |at| seconds(facts.now, at));
        let queues = [("inbox", figures.stats.oldest_queued), ("outbox", figures.stats.oldest_outbox)];
        let ages: Vec<_> =
            queues.iter().map(|(queue, at)| (format!("queue=\"{queue}\""), age(*at))).collect();
        out.gauge("queue_oldest_age_seconds", "Age of the oldest item that waits", &ages);
        out.gauge(
            "unknown_oldest_age_seconds",
            "Age of the oldest Part of unknown fate",
            &[(String::new(), age(figures.oldest_unknown))],
        );
    }
    out.gauge("connections", "Connections", &connections(facts));
    out.gauge("connection_proof_oldest_age_seconds", "Age of the oldest proof of life", &proofs(facts));
    out.counter("connector_runs", "Runs of connectors", ["connector", "outcome", "code"], &told.runs);
    out.counter(
        "provider_requests",
        "Requests to other hosts",
        ["provider", "operation", "outcome"],
        &told.requests,
    );
    out.summary("provider_request_seconds", "Time of requests to other hosts", &told.seconds);
    out.finish()
}

fn of_state(counts: &[(String, u64)]) -> Vec<(String, u64)> {
    counts.iter().map(|(state, count)| (format!("state=\"{state}\""), *count)).collect()
}

fn connections(facts: &Facts) -> Vec<(String, u64)> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for entry in &facts.connections {
        let state = if facts.observed { entry.state.as_str() } else { "not_observed" };
        *found
            .entry(format!("provider=\"{}\",state=\"{state}\"", label(&entry.connection.provider)))
            .or_default() += 1;
    }
    found.into_iter().collect()
}

fn proofs(facts: &Facts) -> Vec<(String, u64)> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for entry in &facts.connections {
        if let Some(at) = entry.health.as_ref().and_then(|health| health.proved_alive_at) {
            let age = found.entry(format!("provider=\"{}\"", label(&entry.connection.provider))).or_default();
            *age = (*age).max(seconds(facts.now, at));
        }
    }
    found.into_iter().collect()
}

/// A label's value: what could end its quotes is left out.
fn label(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')).collect()
}

#[derive(Default)]
struct Lines {
    text: String,
    series: usize,
}

impl Lines {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP loom_{name} {help}.\n# TYPE loom_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        if self.series >= SERIES_MAX {
            return;
        }
        self.series += 1;
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.text, "loom_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, values: &[(String, u64)]) {
        self.head(name, "gauge", help);
        for (labels, value) in values {
            self.line(name, labels, value);
        }
    }

    fn counter(&mut self, name: &str, help: &str, names: [&str; 3], values: &BTreeMap<Key, u64>) {
        self.head(name, "counter", help);
        for (key, value) in values {
            let labels: Vec<String> =
                names.iter().zip(key).map(|(name, value)| format!("{name}=\"{}\"", label(value))).collect();
            self.line(&format!("{name}_total"), &labels.join(","), value);
        }
    }

    fn summary(&mut self, name: &str, help: &str, values: &BTreeMap<String, (f64, u64)>) {
        self.head(name, "summary", help);
        for (provider, (seconds, count)) in values {
            let labels = format!("provider=\"{}\"", label(provider));
            self.line(&format!("{name}_sum"), &labels, seconds);
            self.line(&format!("{name}_count"), &labels, count);
        }
    }

    fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}
