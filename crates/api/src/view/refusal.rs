//! Refused Events.

use loom_domain::message::Decision;
use loom_domain::reason::EventReason;
use loom_domain::{Event, EventId, InboxId};
use serde::{Deserialize, Serialize};

use super::PolicyStep;

/// A refused Event with every step of its judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusalDetail {
    /// The Event.
    pub event: Event,
    /// Steps with the values compared.
    pub steps: Vec<PolicyStep>,
}

/// Refusals of one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonCount {
    /// Reason.
    pub reason: EventReason,
    /// Events.
    pub count: u64,
}

/// A refused Event judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedEvent {
    /// Event.
    pub event_id: EventId,
    /// Decision under the present policy.
    pub decision: Decision,
    /// Reason.
    pub reason: EventReason,
    /// The item, when it was queued or waits for approval.
    #[serde(default)]
    pub item_id: Option<InboxId>,
}
