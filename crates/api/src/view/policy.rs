//! Answers of the decision function.

use loom_domain::EventId;
use loom_domain::message::Decision;
use loom_domain::reason::EventReason;
use serde::{Deserialize, Serialize};

/// One step of the decision table (messaging specification 3.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStep {
    /// Number, such as `14g`.
    pub step: String,
    /// What was asked.
    pub condition: String,
    /// The values compared.
    pub value: String,
    /// What came of it.
    pub result: String,
}

/// How a message is judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// Decision.
    pub decision: Decision,
    /// Reason.
    pub reason: EventReason,
}

/// Every step and the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyExplanation {
    /// Decision.
    pub decision: Decision,
    /// Reason.
    pub reason: EventReason,
    /// Deciding step.
    pub step: String,
    /// Every step taken.
    pub steps: Vec<PolicyStep>,
}

/// An Event that a draft would judge otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayChange {
    /// Event.
    pub event_id: EventId,
    /// As it was judged.
    pub before: Judged,
    /// As the draft judges it.
    pub after: Judged,
}

/// Changed decisions of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReplayResult {
    /// Changed ones only.
    pub items: Vec<ReplayChange>,
    /// Events judged.
    pub judged: u64,
}
