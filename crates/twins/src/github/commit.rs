//! What machines say about a commit: check runs and commit statuses.

use super::pull::Pull;
use crate::front::Dice;

/// A run of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// Id; a later run of the same check has a higher one.
    pub id: u64,
    /// Name.
    pub name: String,
    /// Slug of the app.
    pub app: String,
    /// `queued`, `in_progress`, `completed`, `waiting`, `requested` or `pending`.
    pub status: String,
    /// What it ended with; none until then.
    pub conclusion: Option<String>,
    /// Start in Unix seconds.
    pub started_secs: u64,
}

/// A commit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStatus {
    /// Id.
    pub id: u64,
    /// Context.
    pub context: String,
    /// `error`, `failure`, `pending` or `success`.
    pub state: String,
    /// Time in Unix seconds.
    pub created_secs: u64,
}

const CHECKS: &[&str] = &["unit", "lint", "build", "docs", "e2e"];
const CONCLUSIONS: &[&str] = &[
    "failure",
    "neutral",
    "skipped",
    "cancelled",
    "timed_out",
    "action_required",
    "stale",
    "startup_failure",
];

impl CheckRun {
    /// A run of GitHub Actions; the conclusion `None` means that it is `in_progress`.
    pub fn new(id: u64, name: &str, conclusion: Option<&str>) -> Self {
        let status = if conclusion.is_some() { "completed" } else { "in_progress" };
        Self {
            id,
            name: name.into(),
            app: "github-actions".into(),
            status: status.into(),
            conclusion: conclusion.map(str::to_owned),
            started_secs: 1_767_225_600 + id,
        }
    }
}

impl CommitStatus {
    /// A status of a context.
    pub fn new(id: u64, context: &str, state: &str) -> Self {
        Self { id, context: context.into(), state: state.into(), created_secs: 1_767_225_600 + id }
    }
}

/// The runs on the head, older ones of the same check included, oldest first.
pub(super) fn checks(dice: Dice, pull: &Pull) -> Vec<CheckRun> {
    let has_none = dice.of("none").percent(20);
    let names = CHECKS.iter().filter(|name| !has_none && dice.of(name).percent(70));
    names.zip(0_u64..).flat_map(|(name, at)| runs_of(dice.of(name), pull, name, at)).collect()
}

fn runs_of(dice: Dice, pull: &Pull, name: &str, at: u64) -> Vec<CheckRun> {
    let app = if name == "docs" { "docs-preview" } else { "github-actions" };
    let run = |attempt: u64, status: &str, conclusion: Option<&str>| CheckRun {
        id: pull.number * 1_000 + at * 10 + attempt,
        name: name.to_owned(),
        app: app.to_owned(),
        status: status.to_owned(),
        conclusion: conclusion.map(str::to_owned),
        started_secs: pull.created_secs + 60 + attempt * 600,
    };
    let mut runs = Vec::new();
    if dice.of("rerun").percent(15) {
        runs.push(run(0, "completed", Some("failure")));
    }
    runs.push(match dice.of("end").below(100) {
        0..4 => run(1, "in_progress", None),
        4..7 => run(1, dice.of("wait").pick(&["queued", "waiting", "requested", "pending"]), None),
        7..18 => run(1, "completed", Some(dice.of("bad").pick(CONCLUSIONS))),
        _ => run(1, "completed", Some("success")),
    });
    runs
}

/// The statuses of the head, oldest first.
pub(super) fn statuses(dice: Dice, pull: &Pull) -> Vec<CommitStatus> {
    let contexts = ["ci/legacy", "license/cla"].iter().filter(|context| dice.of(context).percent(40));
    contexts.zip(0_u64..).flat_map(|(context, at)| history_of(dice.of(context), pull, context, at)).collect()
}

fn history_of(dice: Dice, pull: &Pull, context: &str, at: u64) -> Vec<CommitStatus> {
    let status = |attempt: u64, state: &str| CommitStatus {
        id: pull.number * 100 + at * 10 + attempt,
        context: context.to_owned(),
        state: state.to_owned(),
        created_secs: pull.created_secs + 30 + attempt * 300,
    };
    let end = dice.pick(&["success", "success", "success", "success", "failure", "error", "pending"]);
    vec![status(0, "pending"), status(1, end)]
}

/// The newest run of each check, as `filter=latest` wants them.
pub(super) fn latest_checks(runs: &[CheckRun]) -> Vec<&CheckRun> {
    let is_newer = |run: &CheckRun, other: &CheckRun| {
        other.app == run.app && other.name == run.name && other.id > run.id
    };
    runs.iter().filter(|run| !runs.iter().any(|other| is_newer(run, other))).collect()
}

/// The newest status of each context, newest first, as the combined status lists them.
pub(super) fn latest_statuses(statuses: &[CommitStatus]) -> Vec<&CommitStatus> {
    let is_newer =
        |one: &CommitStatus, other: &CommitStatus| other.context == one.context && other.id > one.id;
    let mut latest: Vec<_> =
        statuses.iter().filter(|one| !statuses.iter().any(|other| is_newer(one, other))).collect();
    latest.sort_by_key(|status| std::cmp::Reverse(status.id));
    latest
}

/// The combined state: `failure` if any failed, `pending` if there is none or any waits, else `success`
/// (REST reference, «Get the combined status for a specific reference»).
pub(super) fn combined(statuses: &[&CommitStatus]) -> &'static str {
    let any = |words: &[&str]| statuses.iter().any(|status| words.contains(&status.state.as_str()));
    if any(&["error", "failure"]) {
        "failure"
    } else if statuses.is_empty() || any(&["pending"]) {
        "pending"
    } else {
        "success"
    }
}
