//! The age-fair queue of one repository: which head somebody should look at next. Pure; its file is beside it.

mod file;
mod handled;
mod offers;
mod run;

use std::collections::BTreeMap;

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use file::QueueFile;
pub(super) use handled::handled;
pub(super) use run::{check, observe};

use super::facts::Facts;
use super::input::Outcome;

/// Days that a receipt is kept.
const RECEIPT_MS: i64 = 90 * 86_400_000;
/// Most pull requests of one queue.
const HEADS_MAX: usize = 10_000;

/// What the file holds (`loom.pr_queue_state/v1`).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub(super) schema_version: String,
    /// `HOST/OWNER/REPO`.
    pub(super) repo: String,
    /// The filter of the observations: only what one scope shows can be compared.
    pub(super) scope: Option<String>,
    /// The last complete observation, by number.
    pub(super) heads: BTreeMap<u64, Head>,
    pub(super) receipts: Vec<Receipt>,
}

/// One exact head.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) key: String,
    /// The latest of its creation, its first observation and the end of its draft.
    pub(super) ready_since: Timestamp,
    /// Whether it came after changes were requested.
    pub(super) is_rework: bool,
    /// Whether the account of the token opened it.
    pub(super) is_own: bool,
    pub(super) offer: Option<Offer>,
    pub(super) facts: Facts,
}

/// The last offer of a head.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offer {
    pub(super) id: String,
    pub(super) at: Timestamp,
}

/// That somebody dealt with a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Receipt {
    /// `HOST/OWNER/REPO#N@OID`.
    #[schemars(length(max = 400))]
    pub(super) key: String,
    /// The offer it answers.
    #[schemars(length(max = 64))]
    pub(super) offer_id: String,
    /// What came of it.
    pub(super) outcome: Outcome,
    /// Where it can be seen.
    #[schemars(length(max = 500))]
    pub(super) evidence: Option<String>,
    /// Who says so.
    #[schemars(length(max = 100))]
    pub(super) principal: String,
    /// When.
    #[schemars(with = "String", length(max = 30))]
    pub(super) time: Timestamp,
    /// Digest of the other fields.
    #[schemars(length(max = 71))]
    pub(super) digest: String,
}

/// A pull request as an observation shows it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) number: u64,
    pub(super) key: String,
    pub(super) is_own: bool,
    /// Whether changes are requested of another head than this.
    pub(super) asks_rework: bool,
    pub(super) facts: Facts,
}

/// What an observation changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) changed: Vec<(String, Vec<&'static str>)>,
}

impl Delta {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Seen {
    /// Reads it out of a record; `own` is the account of the token.
    pub(super) fn of(record: &Value, own: Option<&str>) -> Option<Self> {
        let latest = record.pointer("/reviews/latest").and_then(Value::as_array).into_iter().flatten();
        let asks = |review: &Value| review["state"] == "changes_requested" && review["head_match"] == false;
        let author = record.pointer("/author/login").and_then(Value::as_str);
        Some(Seen {
            number: record["number"].as_u64()?,
            key: record["key"].as_str()?.to_owned(),
            is_own: own.is_some() && author == own,
            asks_rework: latest.into_iter().any(asks),
            facts: Facts::of(record),
        })
    }
}

impl State {
    /// An empty queue.
    pub(super) fn new(repo: &str) -> Self {
        State { schema_version: VERSION.to_owned(), repo: repo.to_owned(), ..State::default() }
    }

    /// Takes in a complete observation.
    pub(super) fn observe(&mut self, seen: &[Seen], now: Timestamp) -> Delta {
        let mut delta = Delta::default();
        let mut heads = BTreeMap::new();
        for one in seen.iter().take(HEADS_MAX) {
            let head = match self.heads.remove(&one.number) {
                None => {
                    delta.added.push(one.key.clone());
                    self.first(one, now)
                }
                Some(old) => {
                    let fields = old.facts.differences(&one.facts);
                    if !fields.is_empty() {
                        delta.changed.push((one.key.clone(), fields));
                    }
                    self.next(old, one, now)
                }
            };
            heads.insert(one.number, head);
        }
        delta.removed = self.heads.values().map(|head| head.key.clone()).collect();
        self.heads = heads;
        self.receipts.retain(|receipt| now.0.saturating_sub(receipt.time.0) <= RECEIPT_MS);
        delta
    }

    fn first(&self, seen: &Seen, now: Timestamp) -> Head {
        Head {
            key: seen.key.clone(),
            ready_since: now,
            is_rework: seen.asks_rework || self.was_sent_back(&seen.key),
            is_own: seen.is_own,
            offer: None,
            facts: seen.facts.clone(),
        }
    }

    fn next(&self, old: Head, seen: &Seen, now: Timestamp) -> Head {
        if old.key != seen.key {
            return self.first(seen, now);
        }
        let left_draft = old.facts.draft && !seen.facts.draft;
        let ready_since = if left_draft { now } else { old.ready_since };
        Head { ready_since, is_own: seen.is_own, facts: seen.facts.clone(), ..old }
    }

    /// Whether another head of the same pull request was answered with a request for changes.
    fn was_sent_back(&self, key: &str) -> bool {
        let pull = |key: &str| key.split_once('@').map(|(pull, _)| pull.to_owned());
        let same = |receipt: &&Receipt| receipt.key != key && pull(&receipt.key) == pull(key);
        let last = self.receipts.iter().rfind(same);
        last.is_some_and(|receipt| receipt.outcome == Outcome::ChangesRequested)
    }

    /// Whether a head waits for somebody.
    pub(super) fn is_waiting(&self, head: &Head) -> bool {
        !head.facts.draft && head.facts.state.as_deref() == Some("open") && !self.is_handled(&head.key)
    }

    /// Whether somebody dealt with a head.
    pub(super) fn is_handled(&self, key: &str) -> bool {
        self.receipts.iter().any(|receipt| receipt.key == key)
    }
}

const VERSION: &str = "loom.pr_queue_state/v1";

#[cfg(test)]
mod tests;
