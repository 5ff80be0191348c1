//! A pull request as GitHub's list shows it, reduced to what is needed.
//!
//! Source: GitHub REST, «List pull requests» and «Get a pull request».

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::checks::{Run, Status};
use super::reviews::Review;
use super::threads::Inline;

/// Labels that are kept of one pull request; GitHub allows 100.
const LABELS_MAX: usize = 100;

/// An account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
    pub(super) id: Option<u64>,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
}

impl User {
    pub(super) fn is_bot(&self) -> bool {
        self.kind == "Bot"
    }
}

/// One side of a pull request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) branch: String,
    pub(super) oid: String,
    pub(super) repo: Option<String>,
    /// `OWNER:BRANCH`.
    pub(super) label: Option<String>,
}

/// What a list says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) closed: bool,
    pub(super) draft: bool,
    pub(super) title: String,
    pub(super) author: Option<User>,
    pub(super) association: Option<String>,
    pub(super) labels: Vec<String>,
    pub(super) base: End,
    pub(super) head: End,
    pub(super) created_at: String,
    pub(super) updated_at: Option<String>,
    pub(super) closed_at: Option<String>,
    pub(super) merged_at: Option<String>,
    /// Accounts whose review is asked for.
    pub(super) asked: Vec<String>,
    /// Whether a team's review is asked for.
    pub(super) asks_team: bool,
}

impl Pull {
    /// `open`, `closed` or `merged`.
    pub(super) fn state(&self) -> &'static str {
        match (self.closed, &self.merged_at) {
            (_, Some(_)) => "merged",
            (true, None) => "closed",
            (false, None) => "open",
        }
    }

    /// Whether a review is asked for.
    pub(super) fn asks_for_review(&self) -> bool {
        self.asks_team || !self.asked.is_empty()
    }
}

/// What reading a pull request alone adds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) pull: Pull,
    pub(super) mergeable: Option<bool>,
    pub(super) mergeable_state: String,
    pub(super) files: u64,
    pub(super) additions: u64,
    pub(super) deletions: u64,
    pub(super) commits: u64,
}

#[derive(Debug, Deserialize)]
struct RawLabel {
    name: String,
}

#[derive(Debug, Deserialize)]
struct RawRepo {
    full_name: String,
}

#[derive(Debug, Deserialize)]
struct RawEnd {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    repo: Option<RawRepo>,
    label: Option<String>,
}

impl From<RawEnd> for End {
    fn from(raw: RawEnd) -> Self {
        let repo = raw.repo.map(|repo| repo.full_name);
        End { branch: raw.branch, oid: raw.sha, repo, label: raw.label }
    }
}

/// A pull request as it is sent.
#[derive(Debug, Deserialize)]
pub(super) struct RawPull {
    number: u64,
    state: String,
    #[serde(default)]
    draft: Option<bool>,
    title: String,
    user: Option<User>,
    author_association: Option<String>,
    #[serde(default)]
    labels: Vec<RawLabel>,
    base: RawEnd,
    head: RawEnd,
    created_at: String,
    updated_at: Option<String>,
    closed_at: Option<String>,
    merged_at: Option<String>,
    #[serde(default)]
    requested_reviewers: Option<Vec<User>>,
    #[serde(default)]
    requested_teams: Option<Vec<serde::de::IgnoredAny>>,
    mergeable: Option<bool>,
    #[serde(default)]
    mergeable_state: Option<String>,
    #[serde(default)]
    changed_files: u64,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
    #[serde(default)]
    commits: u64,
}

/// Name of what [`listed`] gives; another form is another name.
pub(super) const LISTED: &str = "pr_review.list/1";
/// Name of what [`whole`] gives.
pub(super) const WHOLE: &str = "pr_review.pull/1";
/// Name of what [`reviews`] gives.
pub(super) const REVIEWS: &str = "pr_review.reviews/1";
/// Name of what [`runs`] gives.
pub(super) const RUNS: &str = "pr_review.runs/1";
/// Name of what [`statuses`] gives.
pub(super) const STATUSES: &str = "pr_review.statuses/1";
/// Name of what [`inline`] gives.
pub(super) const INLINE: &str = "pr_review.inline/1";

pub(super) fn listed(raw: Vec<RawPull>) -> Vec<Pull> {
    raw.into_iter().map(Pull::from).collect()
}

pub(super) fn whole(mut raw: RawPull) -> Whole {
    Whole {
        mergeable: raw.mergeable,
        mergeable_state: raw.mergeable_state.take().unwrap_or_default(),
        files: raw.changed_files,
        additions: raw.additions,
        deletions: raw.deletions,
        commits: raw.commits,
        pull: raw.into(),
    }
}

impl From<RawPull> for Pull {
    fn from(raw: RawPull) -> Self {
        let asked = raw.requested_reviewers.unwrap_or_default();
        Pull {
            number: raw.number,
            closed: raw.state != "open",
            draft: raw.draft.unwrap_or(false),
            title: raw.title,
            author: raw.user,
            association: raw.author_association,
            labels: raw.labels.into_iter().take(LABELS_MAX).map(|label| label.name).collect(),
            base: raw.base.into(),
            head: raw.head.into(),
            created_at: time(&raw.created_at).unwrap_or(raw.created_at),
            updated_at: raw.updated_at.as_deref().and_then(time),
            closed_at: raw.closed_at.as_deref().and_then(time),
            merged_at: raw.merged_at.as_deref().and_then(time),
            asked: asked.into_iter().map(|user| user.login).collect(),
            asks_team: raw.requested_teams.is_some_and(|teams| !teams.is_empty()),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RawReview {
    user: Option<User>,
    author_association: Option<String>,
    state: String,
    commit_id: Option<String>,
    submitted_at: Option<String>,
}

pub(super) fn reviews(raw: Vec<RawReview>) -> Vec<Review> {
    let one = |raw: RawReview| Review {
        is_bot: raw.user.as_ref().is_some_and(User::is_bot),
        login: raw.user.map(|user| user.login),
        association: raw.author_association.unwrap_or_default(),
        state: raw.state,
        commit: raw.commit_id,
        submitted_at: raw.submitted_at.as_deref().and_then(time),
    };
    raw.into_iter().map(one).collect()
}

#[derive(Debug, Deserialize)]
struct RawApp {
    slug: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawRun {
    id: u64,
    name: String,
    status: Option<String>,
    conclusion: Option<String>,
    html_url: Option<String>,
    app: Option<RawApp>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawRuns {
    check_runs: Vec<RawRun>,
}

pub(super) fn runs(raw: RawRuns) -> Vec<Run> {
    let one = |raw: RawRun| Run {
        id: raw.id,
        name: raw.name,
        app: raw.app.and_then(|app| app.slug),
        status: raw.status,
        conclusion: raw.conclusion,
        url: raw.html_url,
    };
    raw.check_runs.into_iter().map(one).collect()
}

#[derive(Debug, Deserialize)]
struct RawStatus {
    id: u64,
    context: String,
    state: String,
    target_url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawStatuses {
    statuses: Vec<RawStatus>,
}

pub(super) fn statuses(raw: RawStatuses) -> Vec<Status> {
    let one =
        |raw: RawStatus| Status { id: raw.id, context: raw.context, state: raw.state, url: raw.target_url };
    raw.statuses.into_iter().map(one).collect()
}

#[derive(Debug, Deserialize)]
pub(super) struct RawInline {
    id: u64,
    in_reply_to_id: Option<u64>,
    path: String,
    line: Option<u64>,
    user: Option<User>,
    author_association: Option<String>,
    original_commit_id: Option<String>,
    created_at: Option<String>,
    #[serde(default)]
    body: Option<String>,
}

pub(super) fn inline(raw: Vec<RawInline>) -> Vec<Inline> {
    let one = |raw: RawInline| Inline {
        id: raw.id,
        reply_to: raw.in_reply_to_id,
        path: raw.path,
        line: raw.line,
        is_bot: raw.user.as_ref().is_some_and(User::is_bot),
        login: raw.user.map(|user| user.login),
        association: raw.author_association.unwrap_or_default(),
        commit: raw.original_commit_id,
        created_at: raw.created_at.as_deref().and_then(time),
        body: raw.body.unwrap_or_default().chars().take(super::threads::BODY_CHARS_MAX).collect(),
    };
    raw.into_iter().map(one).collect()
}

/// A time of the provider in Loom's form, in which times compare as texts.
pub(super) fn time(text: &str) -> Option<String> {
    text.parse::<Timestamp>().ok().map(|time| time.to_string())
}
