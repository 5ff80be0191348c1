//! The facts that a report is made of. None of them holds the body of a message.

use std::collections::BTreeMap;

use loom_domain::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a source was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// All of the window.
    Complete,
    /// Not all of it, or not everything there is to know.
    Partial,
    /// It was not asked.
    #[default]
    NotObserved,
}

/// Records of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed<T> {
    /// How far it was read.
    pub state: SourceState,
    /// Why it is not complete.
    pub note: Option<String>,
    /// Its records, in an order of their own.
    pub records: Vec<T>,
}

impl<T> Observed<T> {
    /// A source that was read to its end.
    pub fn complete(records: Vec<T>) -> Self {
        Observed { state: SourceState::Complete, note: None, records }
    }

    /// A source of which something is missing.
    pub fn partial(records: Vec<T>, note: impl Into<String>) -> Self {
        Observed { state: SourceState::Partial, note: Some(note.into()), records }
    }

    /// A source that was not asked.
    pub fn not_observed(note: impl Into<String>) -> Self {
        Observed { state: SourceState::NotObserved, note: Some(note.into()), records: Vec::new() }
    }

    pub(crate) fn is_observed(&self) -> bool {
        self.state != SourceState::NotObserved
    }
}

impl<T> Default for Observed<T> {
    fn default() -> Self {
        Observed::not_observed("no source")
    }
}

/// A Connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionFact {
    /// Provider word.
    pub provider: String,
    /// Account at the provider.
    pub account: String,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Events of the window.
    pub events: u64,
    /// Of these, refused.
    pub refused: u64,
    /// Newest event of the window, its proof of life.
    pub last_event_at: Option<Timestamp>,
    /// Newest delivery of the window.
    pub last_sent_at: Option<Timestamp>,
}

/// A Part that came to an end, or to doubt, in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Provider word.
    pub provider: String,
    /// Name of the Agent.
    pub agent: String,
    /// State word.
    pub state: String,
    /// When that was recorded.
    pub at: Timestamp,
    /// From the order to the Receipt.
    pub latency_ms: Option<u64>,
    /// Code of what went wrong.
    pub code: Option<String>,
}

/// An event that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Reason code.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// An Inbox item that was open at some time of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Name of the Agent.
    pub agent: String,
    /// State word.
    pub state: String,
    /// When it came.
    pub created_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
}

/// A run of a connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Connector.
    pub connector: String,
    /// When it ended.
    pub at: Timestamp,
    /// Whether it came to its end.
    pub ok: bool,
    /// Code of the failure.
    pub code: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

/// A Turn that was started in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFact {
    /// Name of the Agent.
    pub agent: String,
    /// Runtime word.
    pub runtime: String,
    /// State word.
    pub state: String,
    /// Start.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Tokens that the runtime reported; absent when it reported none.
    pub tokens: Option<u64>,
    /// Millionths of the reported currency.
    pub cost_micros: Option<u64>,
}

/// An apply of the integration branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apply {
    /// When.
    pub at: Timestamp,
    /// Revision.
    pub revision: String,
    /// Objects that it changed.
    pub changed: u64,
}

/// All facts of a window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Connections and gateways.
    pub connections: Observed<ConnectionFact>,
    /// Deliveries.
    pub deliveries: Observed<Delivery>,
    /// Inbox items.
    pub items: Observed<Item>,
    /// Refused events.
    pub refusals: Observed<Refusal>,
    /// Runs of connectors.
    pub runs: Observed<Run>,
    /// Turns.
    pub turns: Observed<TurnFact>,
    /// Applies of the integration branch.
    pub applies: Observed<Apply>,
}

/// Sorts counts by size, then by name.
pub(crate) fn ranked<K: Ord + Clone>(counts: &BTreeMap<K, u64>) -> Vec<(K, u64)> {
    let mut all: Vec<(K, u64)> = counts.iter().map(|(key, count)| (key.clone(), *count)).collect();
    all.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    all
}

/// Counts by a key.
pub(crate) fn tally<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// The middle, the 95th of a hundred, and the largest of some values.
pub(crate) fn spread(mut values: Vec<u64>) -> Option<(u64, u64, u64)> {
    values.sort_unstable();
    let rank =
        |hundredths: usize| values.get((values.len() * hundredths).div_ceil(100).saturating_sub(1)).copied();
    Some((rank(50)?, rank(95)?, *values.last()?))
}
