//! Turns and handling Attempts.

use serde::{Deserialize, Serialize};

use crate::{AgentId, AttemptId, InboxId, MembershipId, ReplyPolicy, Timestamp, TurnId, words};

words! {
    /// State of a Turn.
    pub enum TurnState {
        /// Recorded; the runtime has not said that it accepted it.
        Starting = "starting",
        /// Accepted.
        Running = "running",
        /// Ended well.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Stopped.
        Interrupted = "interrupted",
        /// Its fate is not known.
        Lost = "lost",
    }
}

words! {
    /// Status of a handling Attempt.
    pub enum AttemptStatus {
        /// Recorded.
        Starting = "starting",
        /// The Turn runs.
        Running = "running",
        /// The Turn ended well.
        Completed = "completed",
        /// The Turn failed.
        Failed = "failed",
        /// The Turn was interrupted.
        Interrupted = "interrupted",
        /// The Turn never started.
        NotStarted = "not_started",
    }
}

/// A class and a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassedError {
    /// Class word.
    pub class: String,
    /// One sentence, redacted, at most 512 bytes.
    pub message: String,
}

/// One try to handle an item: a Turn. Policy and Membership version are frozen at claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandlingAttempt {
    /// Id.
    pub id: AttemptId,
    /// Order of commit.
    pub seq: u64,
    /// Item.
    pub inbox_item_id: InboxId,
    /// Turn.
    pub turn_id: TurnId,
    /// Number of this Attempt for its item, from 1.
    pub n: u32,
    /// Membership at claim.
    pub membership_id: Option<MembershipId>,
    /// Its version at claim.
    pub membership_version: Option<u64>,
    /// Reply policy frozen at claim.
    pub effective_reply_policy: ReplyPolicy,
    /// Status.
    pub status: AttemptStatus,
    /// The final answer, kept also when it was not sent.
    pub answer: Option<String>,
    /// What went wrong.
    pub error: Option<ClassedError>,
    /// Fence of the agent lease it was claimed under.
    pub fence: u64,
    /// Start.
    pub started_at: Timestamp,
    /// End.
    pub ended_at: Option<Timestamp>,
}

/// One bounded unit of Agent work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Id.
    pub id: TurnId,
    /// Order of commit.
    pub seq: u64,
    /// Agent.
    pub agent_id: AgentId,
    /// Item.
    pub item_id: InboxId,
    /// Thread generation.
    pub generation: u64,
    /// The runtime's own id.
    pub native_turn: Option<String>,
    /// State.
    pub state: TurnState,
    /// Trust domains whose content it has seen.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Absolute limit.
    pub deadline_at: Timestamp,
    /// Usage as the runtime told it.
    #[serde(default)]
    pub usage: serde_json::Value,
    /// Tool calls seen.
    #[serde(default)]
    pub tool_calls: u32,
    /// The final answer.
    pub answer: Option<String>,
    /// Hub node that runs it.
    pub node: String,
    /// Creation.
    pub created_at: Timestamp,
    /// End.
    pub ended_at: Option<Timestamp>,
}
