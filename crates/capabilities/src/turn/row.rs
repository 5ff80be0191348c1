//! What a journal says, row by row: each is on disk before the step that it announces.

use loom_domain::Error;
use serde::{Deserialize, Serialize};

use super::order::TurnOrder;
use crate::{Effects, chain::ChainRow};

/// A row of a journal.
pub type JournalRow = ChainRow<TurnEvent>;

/// How a Turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// All of it was done.
    Completed,
    /// A connector or the Agent failed, or the deadline passed.
    Failed,
    /// Nobody knows what became of the Agent's run.
    Lost,
}

/// How an Agent's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It gave its answer.
    Done,
    /// It failed.
    Failed,
    /// Nobody knows.
    Lost,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEvent {
    /// It was asked for.
    Planned {
        /// Turn.
        turn_id: String,
        /// Who asked.
        principal: String,
        /// What was asked.
        order: Box<TurnOrder>,
        /// Digest of the plan.
        plan_digest: String,
        /// Digest of the order without its key.
        inputs_digest: String,
    },
    /// A connector begins.
    ConnectorStarted {
        /// Its place.
        index: usize,
        /// Its id.
        connector_id: String,
    },
    /// A connector came to its end.
    ConnectorDone {
        /// Its place.
        index: usize,
        /// Its id.
        connector_id: String,
        /// Whether it did.
        ok: bool,
        /// Its payload, kept below the home.
        payload_id: Option<String>,
        /// Whether it had a payload that could not be kept.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        payload_lost: bool,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<serde_json::Value>")]
        error: Option<Box<Error>>,
        /// What it did to the outside.
        effects: Effects,
    },
    /// The Agent is given its input.
    AgentStarted {
        /// Agent.
        agent_id: String,
        /// Payloads that stand in the input, whole or cut.
        payload_ids: Vec<String>,
    },
    /// The Agent's run came to its end.
    AgentDone {
        /// How.
        state: AgentState,
        /// Inbox item that carried the input.
        item_id: Option<String>,
        /// The hub's own record of the run.
        agent_turn_id: Option<String>,
        /// Its final answer.
        answer: Option<String>,
        /// Tokens of its run, where they are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<serde_json::Value>")]
        error: Option<Box<Error>>,
    },
    /// Messages of the Agent's run; the Outbox alone delivers them.
    OutboxItems {
        /// Their ids.
        ids: Vec<String>,
    },
    /// It was stopped; it can be resumed.
    Interrupted {
        /// Why.
        reason: String,
    },
    /// It is over.
    Committed {
        /// How it ended.
        end: TurnEnd,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<serde_json::Value>")]
        error: Option<Box<Error>>,
    },
}
