//! What machines say about a commit, in one word: pure.
//!
//! Sources: GitHub REST, «List check runs for a Git reference» (`status`, `conclusion`) and «Get the combined status for
//! a specific reference» (`state`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Check, Checks};

/// State of a check, and of all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckState {
    /// One has failed.
    Failing,
    /// None has failed, and not all have ended.
    Pending,
    /// All have ended well.
    Passing,
    /// There are none.
    None,
    /// Not all of them could be read.
    Unknown,
}

impl CheckState {
    /// The word in results and filters.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            CheckState::Failing => "failing",
            CheckState::Pending => "pending",
            CheckState::Passing => "passing",
            CheckState::None => "none",
            CheckState::Unknown => "unknown",
        }
    }
}

/// A check run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) app: Option<String>,
    pub(super) status: Option<String>,
    pub(super) conclusion: Option<String>,
    pub(super) url: Option<String>,
}

/// A commit status.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Status {
    pub(super) id: u64,
    pub(super) context: String,
    pub(super) state: String,
    pub(super) url: Option<String>,
}

/// Rolls both lists up; one that could not be read is none, and then nothing counts as passing.
pub(super) fn roll_up(runs: Option<Vec<Run>>, statuses: Option<Vec<Status>>) -> Checks {
    let complete = runs.is_some() && statuses.is_some();
    let mut items = of_runs(runs.unwrap_or_default());
    items.extend(of_statuses(statuses.unwrap_or_default()));
    let count = |state| items.iter().filter(|item| item.state == state).count() as u64;
    let (failing, pending, passing) =
        (count(CheckState::Failing), count(CheckState::Pending), count(CheckState::Passing));
    let state = match (complete, failing, pending, passing) {
        (false, ..) => CheckState::Unknown,
        (true, 1.., ..) => CheckState::Failing,
        (true, 0, 1.., _) => CheckState::Pending,
        (true, 0, 0, 1..) => CheckState::Passing,
        (true, 0, 0, 0) => CheckState::None,
    };
    let known = |number: u64| complete.then_some(number);
    Checks {
        state,
        total: known(items.len() as u64),
        passing: known(passing),
        failing: known(failing),
        pending: known(pending),
        items,
    }
}

/// The newest run of each check of each app, by name.
fn of_runs(runs: Vec<Run>) -> Vec<Check> {
    let mut newest: BTreeMap<(String, Option<String>), Run> = BTreeMap::new();
    for run in runs {
        let key = (run.name.clone(), run.app.clone());
        if newest.get(&key).is_none_or(|known| known.id < run.id) {
            newest.insert(key, run);
        }
    }
    let check = |run: Run| Check {
        state: state_of(run.status.as_deref(), run.conclusion.as_deref()),
        name: run.name,
        source: "check_run",
        conclusion: run.conclusion.or(run.status),
        url: run.url,
    };
    newest.into_values().map(check).collect()
}

/// The newest status of each context, by name.
fn of_statuses(statuses: Vec<Status>) -> Vec<Check> {
    let mut newest: BTreeMap<String, Status> = BTreeMap::new();
    for status in statuses {
        if newest.get(&status.context).is_none_or(|known| known.id < status.id) {
            newest.insert(status.context.clone(), status);
        }
    }
    let check = |status: Status| Check {
        name: status.context,
        source: "status",
        state: word_of(&status.state),
        conclusion: Some(status.state),
        url: status.url,
    };
    newest.into_values().map(check).collect()
}

fn state_of(status: Option<&str>, conclusion: Option<&str>) -> CheckState {
    match (status, conclusion) {
        (Some("completed") | None, Some(conclusion)) => word_of(conclusion),
        _ => CheckState::Pending,
    }
}

/// A word that is not known has not passed.
fn word_of(word: &str) -> CheckState {
    match word {
        "failure" | "timed_out" | "cancelled" | "action_required" | "startup_failure" | "error" => {
            CheckState::Failing
        }
        "success" | "neutral" | "skipped" => CheckState::Passing,
        _ => CheckState::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: u64, name: &str, status: &str, conclusion: Option<&str>) -> Run {
        let (name, status) = (name.to_owned(), Some(status.to_owned()));
        Run { id, name, app: Some("ci".into()), status, conclusion: conclusion.map(str::to_owned), url: None }
    }

    fn done(id: u64, name: &str, conclusion: &str) -> Run {
        run(id, name, "completed", Some(conclusion))
    }

    fn status(id: u64, context: &str, state: &str) -> Status {
        Status { id, context: context.into(), state: state.into(), url: None }
    }

    fn state(runs: Vec<Run>, statuses: Vec<Status>) -> CheckState {
        roll_up(Some(runs), Some(statuses)).state
    }

    /// CAP-083: every word rolls up as written, and what is not known never passes.
    #[test]
    fn cap_083_words_roll_up() {
        use CheckState::{Failing, None, Passing, Pending};
        for (word, expected) in [
            ("failure", Failing),
            ("timed_out", Failing),
            ("cancelled", Failing),
            ("action_required", Failing),
            ("startup_failure", Failing),
            ("stale", Pending),
            ("a_new_word", Pending),
            ("success", Passing),
            ("neutral", Passing),
            ("skipped", Passing),
        ] {
            assert_eq!(state(vec![done(1, "a", word), done(2, "b", "success")], vec![]), expected, "{word}");
        }
        for word in ["queued", "in_progress", "waiting", "requested", "pending", "a_new_word"] {
            let runs = vec![run(1, "a", word, Option::None), done(2, "b", "success")];
            assert_eq!(state(runs, vec![]), Pending, "{word}");
        }
        assert_eq!(state(vec![], vec![]), None);
        assert_eq!(state(vec![], vec![status(1, "ci", "success")]), Passing, "statuses alone");
        assert_eq!(state(vec![done(1, "a", "success")], vec![status(1, "ci", "error")]), Failing);
        assert_eq!(state(vec![done(1, "a", "success")], vec![status(1, "ci", "pending")]), Pending);
    }

    /// CAP-083: the newest run of a check and the newest status of a context count.
    #[test]
    fn cap_083_the_newest_counts() {
        let runs = vec![done(9, "a", "success"), done(3, "a", "failure")];
        let statuses = vec![status(1, "ci", "failure"), status(2, "ci", "success")];
        let checks = roll_up(Some(runs), Some(statuses));
        assert_eq!((checks.state, checks.total), (CheckState::Passing, Some(2)));
    }

    /// CAP-083: a list that could not be read is unknown, whatever the other one says.
    #[test]
    fn cap_083_a_failed_read_is_unknown() {
        for checks in [
            roll_up(None, Some(vec![status(1, "ci", "success")])),
            roll_up(Some(vec![done(1, "a", "failure")]), None),
            roll_up(None, None),
        ] {
            assert_eq!((checks.state, checks.passing), (CheckState::Unknown, None));
        }
    }
}
