//! Outbox items as the API shows them (messaging specification 9.3).

use loom_domain::{EventId, OutboxItem, Part, SendAttempt};
use serde::{Deserialize, Serialize};

/// An item with its Parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxEntry {
    /// The item.
    #[serde(flatten)]
    pub item: OutboxItem,
    /// Its Parts, in order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Whether a send met an earlier item with the same key and content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// Everything about one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxDetail {
    /// The item with its Parts.
    #[serde(flatten)]
    pub entry: OutboxEntry,
    /// The Agent's name.
    #[serde(default)]
    pub agent_name: Option<String>,
    /// Every send Attempt, oldest first.
    #[serde(default)]
    pub attempts: Vec<SendAttempt>,
}

/// Whether a send would be admitted. A refusal is an error answer, not this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Admission {
    /// Always true.
    pub admitted: bool,
    /// Why it would be held, when it would.
    #[serde(default)]
    pub held: Option<String>,
    /// Parts it would be cut into.
    #[serde(default)]
    pub parts: u32,
}

/// End of an inbound test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboundTest {
    /// The code to write in the conversation.
    pub code: String,
    /// Whether a message with it arrived.
    pub received: bool,
    /// The Event that carried it.
    #[serde(default)]
    pub event_id: Option<EventId>,
    /// The decision path, one sentence each.
    #[serde(default)]
    pub path: Vec<String>,
}
