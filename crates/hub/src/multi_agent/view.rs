//! What is known of a run (`loom.multi_agent_run/v1`), made of its journal alone.

use loom_domain::text::prefix;
use loom_domain::{Code, Error, Result, Timestamp};
use serde::Serialize;

use super::decide::Progress;
use super::file::MultiAgentFile;
use super::row::{Row, RunEvent, StopReason};

/// Longest result that a view shows of a lane.
const PREVIEW_BYTES_MAX: usize = 3 * 1024;
/// Turns that a view names of a lane.
const TURNS_SHOWN: usize = 20;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// The hub works on it.
    Running,
    /// No hub works on it, and it is not over.
    Interrupted,
    /// It is over.
    Ended,
}

/// A lane of a run.
#[derive(Debug, Clone, Serialize)]
struct LaneView {
    id: String,
    agent_id: String,
    state: &'static str,
    rounds: u32,
    turns: u64,
    tokens: u64,
    restarts: u32,
    done: bool,
    summary: String,
    turn_ids: Vec<String>,
    error: Option<String>,
}

/// A run.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    schema_version: &'static str,
    run_id: String,
    id: String,
    objective: String,
    pub(super) state: State,
    reason: Option<StopReason>,
    which: Option<String>,
    stop_asked: bool,
    rounds: u32,
    rounds_max: u32,
    turns: u64,
    tokens: u64,
    messages: usize,
    failures: u32,
    started_at: Timestamp,
    updated_at: Timestamp,
    lanes: Vec<LaneView>,
    warnings: Vec<String>,
}

impl RunView {
    /// The view of a journal; `is_held` says whether a hub works on it.
    pub(super) fn of(rows: &[Row], is_held: bool) -> Result<Self> {
        let (run_id, file, agents) = begun(rows)?;
        let progress = Progress::of(file, rows);
        let (reason, which) =
            progress.stopped.clone().map_or((None, None), |(reason, which)| (Some(reason), which));
        let state = match (reason, is_held) {
            (Some(_), _) => State::Ended,
            (None, true) => State::Running,
            (None, false) => State::Interrupted,
        };
        let lanes = file.lanes.iter().map(|lane| {
            let one = progress.lanes.get(&lane.id).cloned().unwrap_or_default();
            let result = one.results.iter().rev().find(|report| !report.summary.is_empty());
            LaneView {
                id: lane.id.clone(),
                agent_id: agents.get(&lane.id).cloned().unwrap_or_default(),
                state: match (one.failed, &one.open) {
                    (true, _) => "failed",
                    (false, Some(_)) => "working",
                    (false, None) => "waiting",
                },
                rounds: one.rounds,
                turns: one.turns,
                tokens: one.tokens,
                restarts: one.restarts,
                done: one.results.iter().any(|report| report.done),
                summary: result
                    .map(|report| prefix(&report.summary, PREVIEW_BYTES_MAX).to_owned())
                    .unwrap_or_default(),
                turn_ids: one.turn_ids.iter().rev().take(TURNS_SHOWN).rev().cloned().collect(),
                error: one.error,
            }
        });
        let results = progress.lanes.values().flat_map(|lane| &lane.results);
        Ok(RunView {
            schema_version: "loom.multi_agent_run/v1",
            run_id: run_id.to_owned(),
            id: file.id.clone(),
            objective: file.objective.clone(),
            state,
            reason,
            which,
            stop_asked: progress.stop_asked.is_some(),
            rounds: progress.whole_rounds(),
            rounds_max: file.rounds.max,
            turns: progress.turns(),
            tokens: progress.tokens(),
            messages: results.map(|report| report.messages.len()).sum(),
            failures: progress.failures,
            started_at: progress.started_at,
            updated_at: rows.last().map(|row| row.at).unwrap_or_default(),
            lanes: lanes.collect(),
            warnings: file.warnings(),
        })
    }
}

type Agents = std::collections::BTreeMap<String, String>;

/// What a journal begins with.
pub(super) fn begun(rows: &[Row]) -> Result<(&str, &MultiAgentFile, &Agents)> {
    match rows.first().map(|row| &row.body) {
        Some(RunEvent::Started { run_id, file, agents }) => Ok((run_id, file, agents)),
        Some(_) => Err(Error::new(Code::IntegrityError, "the journal does not begin with its file")),
        None => Err(Error::new(Code::NotFound, "the journal has no row yet")),
    }
}
