//! What the facts come to: pure.

use std::collections::BTreeMap;

use loom_domain::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observe::Observed;
use super::program::{StateWord, Wish};
use crate::pr_review::Facts;

/// How far one pull request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// What is required of it holds, and everything it depends on is done.
    Satisfied,
    /// It is merged.
    Merged,
    /// Its checks run, or have not begun.
    WaitingChecks,
    /// Nobody approved it yet.
    WaitingReview,
    /// It holds; something that it depends on does not.
    WaitingDependency,
    /// A conflict, a draft, or behind its base.
    Blocked,
    /// Its checks fail, or it was closed.
    Failed,
    /// It could not be told.
    Unknown,
}

impl State {
    /// The word in reasons.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            State::Satisfied => "satisfied",
            State::Merged => "merged",
            State::WaitingChecks => "waiting_checks",
            State::WaitingReview => "waiting_review",
            State::WaitingDependency => "waiting_dependency",
            State::Blocked => "blocked",
            State::Failed => "failed",
            State::Unknown => "unknown",
        }
    }

    /// Whether others need not wait for it any more.
    pub(super) fn is_done(self) -> bool {
        matches!(self, State::Satisfied | State::Merged)
    }
}

/// How far the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProgramState {
    /// Every pull request is satisfied or merged.
    Satisfied,
    /// Something moves.
    InProgress,
    /// Only people can move it: reviews, conflicts, drafts.
    NeedsHuman,
    /// One of them failed.
    Failed,
    /// Something could not be told.
    Unknown,
}

/// One pull request with what it comes to.
#[derive(Debug, Clone)]
pub(super) struct Assessed {
    pub(super) wish: Wish,
    pub(super) key: Option<String>,
    pub(super) state: State,
    pub(super) reasons: Vec<String>,
    pub(super) facts: Facts,
}

/// All of them, and the program.
pub(super) struct Assessment {
    pub(super) pulls: Vec<Assessed>,
    pub(super) state: ProgramState,
}

/// Judges everything that was read.
pub(super) fn evaluate(observed: &Observed) -> Result<Assessment> {
    let mut pulls: Vec<Assessed> = observed
        .pulls
        .iter()
        .map(|read| {
            let facts = read.record.as_ref().map(Facts::of).unwrap_or_default();
            let (state, reasons) = alone(&read.wish, &facts);
            let key = read.record.as_ref().and_then(|record| record["key"].as_str()).map(str::to_owned);
            Assessed { wish: read.wish.clone(), key, state, reasons, facts }
        })
        .collect();
    hold_back(&mut pulls)?;
    let state = program_state(&pulls);
    Ok(Assessment { pulls, state })
}

/// The state without regard to dependencies.
fn alone(wish: &Wish, facts: &Facts) -> (State, Vec<String>) {
    let because = |state: State, why: &str| (state, vec![why.to_owned()]);
    let require = wish.require;
    match facts.state.as_deref() {
        None => return because(State::Unknown, "it could not be read"),
        Some("merged") => return (State::Merged, vec![]),
        Some("closed") => return because(State::Failed, "closed without a merge"),
        Some(_) => {}
    }
    let checks = facts.checks.as_deref().unwrap_or("unknown");
    if !require.checks.is_any() && checks == "failing" {
        return because(State::Failed, "checks are failing");
    }
    if facts.draft {
        return because(State::Blocked, "it is a draft");
    }
    if !require.mergeable.is_any() {
        match (facts.mergeable.as_deref(), facts.merge.as_deref()) {
            (Some("no"), _) | (_, Some("conflicting")) => return because(State::Blocked, "it has conflicts"),
            (_, Some("behind")) => return because(State::Blocked, "it is behind its base"),
            (Some("yes"), _) => {}
            _ => return because(State::Unknown, "mergeability is unknown"),
        }
    }
    if !require.checks.is_any() {
        match checks {
            "passing" => {}
            "unknown" => return because(State::Unknown, "checks could not be read"),
            "none" => return because(State::WaitingChecks, "no checks yet"),
            _ => return because(State::WaitingChecks, "checks are pending"),
        }
    }
    if !require.review.is_any() {
        match facts.review.as_deref() {
            Some("approved") => {}
            Some("changes_requested") => return because(State::WaitingReview, "changes are requested"),
            Some(_) => return because(State::WaitingReview, "not approved"),
            None => return because(State::Unknown, "reviews could not be read"),
        }
    }
    if require.state == StateWord::Merged {
        return because(State::Blocked, "ready, and not merged yet");
    }
    (State::Satisfied, vec![])
}

/// Those that hold by themselves wait for what they depend on. The graph has no cycle, so this ends.
fn hold_back(pulls: &mut [Assessed]) -> Result<()> {
    for _ in 0..=pulls.len() {
        let states: BTreeMap<String, State> = pulls.iter().map(|one| (one.wish.key(), one.state)).collect();
        let mut changed = false;
        for one in pulls.iter_mut().filter(|one| one.state == State::Satisfied) {
            let open = one.wish.depends_on.iter().filter_map(|name| {
                let state = states.get(name).copied().unwrap_or(State::Unknown);
                (!state.is_done()).then(|| format!("{name} {}", state.as_str()))
            });
            let reasons: Vec<String> = open.collect();
            if !reasons.is_empty() {
                (one.state, one.reasons, changed) = (State::WaitingDependency, reasons, true);
            }
        }
        if !changed {
            return Ok(());
        }
    }
    Err(Error::internal("dependencies do not settle"))
}

fn program_state(pulls: &[Assessed]) -> ProgramState {
    let has = |state: State| pulls.iter().any(|one| one.state == state);
    match () {
        () if pulls.iter().all(|one| one.state.is_done()) => ProgramState::Satisfied,
        () if has(State::Failed) => ProgramState::Failed,
        () if has(State::WaitingChecks) => ProgramState::InProgress,
        () if has(State::Unknown) => ProgramState::Unknown,
        () => ProgramState::NeedsHuman,
    }
}
