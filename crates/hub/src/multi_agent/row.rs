//! What the journal of a loop says.

use std::collections::BTreeMap;

use loom_capabilities::ChainRow;
use loom_domain::Error;
use serde::{Deserialize, Serialize};

use super::file::MultiAgentFile;
use super::reports::Report;

/// A row of the journal.
pub(super) type Row = ChainRow<RunEvent>;

/// How a lane-round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LaneEnd {
    /// It gave its result.
    Done,
    /// It failed; it may be started again.
    Failed,
    /// Nobody knows what became of it; it is not started again.
    Lost,
    /// It was stopped with the loop.
    Stopped,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopReason {
    /// A lane said that it is done.
    LaneDone,
    /// Nothing new came.
    Idle,
    /// All rounds were run.
    RoundsMax,
    /// A budget is spent.
    Budget,
    /// Too much failed.
    Failures,
    /// It was stopped.
    Stopped,
}

impl StopReason {
    /// Its name in the journal.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            StopReason::LaneDone => "lane_done",
            StopReason::Idle => "idle",
            StopReason::RoundsMax => "rounds_max",
            StopReason::Budget => "budget",
            StopReason::Failures => "failures",
            StopReason::Stopped => "stopped",
        }
    }
}

/// A lane-round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct LaneRound {
    pub(super) lane: String,
    pub(super) round: u32,
    pub(super) attempt: u32,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum RunEvent {
    /// It was asked for.
    Started { run_id: String, file: Box<MultiAgentFile>, agents: BTreeMap<String, String> },
    /// It goes on after a stop.
    Resumed,
    /// A lane-round begins; it sees the rows before `seen`.
    LaneStarted {
        #[serde(flatten)]
        of: LaneRound,
        seen: u64,
    },
    /// A lane told its result.
    LaneReported {
        #[serde(flatten)]
        of: LaneRound,
        report: Report,
    },
    /// A lane-round is over.
    LaneDone {
        #[serde(flatten)]
        of: LaneRound,
        end: LaneEnd,
        turn_id: Option<String>,
        report: Report,
        tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Box<Error>>,
    },
    /// The owner wants it to stop.
    StopAsked { grace_ms: u64 },
    /// It is over.
    Stopped { reason: StopReason, which: Option<String> },
}

impl RunEvent {
    /// The lane that it is of.
    pub(super) fn lane(&self) -> Option<&str> {
        match self {
            RunEvent::LaneStarted { of, .. }
            | RunEvent::LaneReported { of, .. }
            | RunEvent::LaneDone { of, .. } => Some(&of.lane),
            _ => None,
        }
    }
}
