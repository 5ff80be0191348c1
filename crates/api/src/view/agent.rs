//! Agents and Turns as the API shows them.

use loom_domain::agent::AgentState;
use loom_domain::inbox;
use loom_domain::{Address, Agent, InboxId, OutboxId, Timestamp, Turn, TurnId};
use serde::{Deserialize, Serialize};

/// One Agent of a list: the Agent's fields and what it is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    /// The Agent.
    #[serde(flatten)]
    pub agent: Agent,
    /// Derived state.
    pub state: AgentState,
    /// Addresses that are not archived.
    #[serde(default)]
    pub address_count: u64,
    /// Items in its queue.
    #[serde(default)]
    pub queued: u64,
    /// Age of the oldest queued item, seconds.
    #[serde(default)]
    pub oldest_seconds: Option<u64>,
    /// The running Turn.
    #[serde(default)]
    pub current_turn: Option<CurrentTurn>,
}

/// One Agent with everything around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// The Agent.
    pub agent: Agent,
    /// Derived state.
    pub state: AgentState,
    /// Its Addresses, archived ones last.
    pub addresses: Vec<Address>,
    /// Totals of its Memberships.
    pub memberships: MembershipTotals,
    /// Totals of its queue.
    pub queue: QueueTotals,
    /// The running Turn.
    #[serde(default)]
    pub current_turn: Option<CurrentTurn>,
    /// Other Agents it exchanges messages with.
    #[serde(default)]
    pub relationships: Vec<Relationship>,
}

/// Totals of Memberships.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MembershipTotals {
    /// All that are not archived.
    pub total: u64,
    /// Enabled ones.
    pub enabled: u64,
}

/// Totals of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueTotals {
    /// Waiting for a Turn.
    pub queued: u64,
    /// Waiting for approval of their sender.
    pub pending_access: u64,
    /// Waiting for a decision.
    pub needs_decision: u64,
    /// Age of the oldest queued item, seconds.
    pub oldest_seconds: Option<u64>,
}

/// The Turn that runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentTurn {
    /// Turn.
    pub id: TurnId,
    /// Item.
    pub item_id: InboxId,
    /// Start.
    pub started_at: Timestamp,
}

/// Another Agent this one exchanges messages with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relationship {
    /// The other Agent's name.
    pub agent: String,
    /// Open messages between the two.
    pub open: u64,
}

/// One Turn with its item and replies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEntry {
    /// The Turn, with its answer.
    #[serde(flatten)]
    pub turn: Turn,
    /// The item it handled.
    #[serde(default)]
    pub item: Option<inbox::Item>,
    /// Where the item comes from: a provider word, `loom` or `owner`.
    #[serde(default)]
    pub origin: Option<String>,
    /// Replies.
    #[serde(default)]
    pub outbox_ids: Vec<OutboxId>,
}

/// What became of owner input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadInputResult {
    /// The item made of it.
    pub item_id: InboxId,
    /// Its state.
    pub state: inbox::State,
    /// Its Turn.
    #[serde(default)]
    pub turn_id: Option<TurnId>,
    /// The Turn's answer, once it ended.
    #[serde(default)]
    pub answer: Option<String>,
}
