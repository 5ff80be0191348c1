//! A pull request as a list shows it.

use serde::Serialize;

use super::actor::{Actor, ActorKind};
use crate::front::{Dice, instant};

/// When the first pull request of every repository was opened: 2026-01-01.
const EPOCH_SECS: u64 = 1_767_225_600;
/// Seconds between two pull requests.
const STEP_SECS: u64 = 3_600;
/// Digits of an object id that tell the number of its pull request.
const NUMBER_DIGITS: usize = 8;

const LABELS: &[&str] =
    &["bug", "docs", "enhancement", "good first issue", "needs-triage", "release", "security"];
const WORDS: &[&str] = &["parser", "cache", "scheduler", "socket", "index", "lexer", "queue", "renderer"];
const VERBS: &[&str] = &["Fix", "Speed up", "Document", "Rewrite", "Test", "Remove"];

/// State of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    /// Open.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged; the REST API calls it closed with a `merged_at`.
    Merged,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Number.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Author.
    pub author: Actor,
    /// State.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// Labels.
    pub labels: Vec<String>,
    /// Branch it is to be merged into.
    pub base: String,
    /// Commit of the base.
    pub base_oid: String,
    /// Branch it comes from.
    pub head: String,
    /// Repository it comes from; none when that was deleted.
    pub head_repo: Option<String>,
    /// Its newest commit.
    pub head_oid: String,
    /// Whether it can be merged; none while that is unknown.
    pub mergeable: Option<bool>,
    /// `mergeable_state`.
    pub merge_state: String,
    /// Logins whose review was asked for.
    pub requested_reviewers: Vec<String>,
    /// Opened, in Unix seconds.
    pub created_secs: u64,
    /// Last changed, in Unix seconds.
    pub updated_secs: u64,
    /// Lines added and removed, and commits.
    pub size: (u64, u64, u64),
}

impl Pull {
    pub(super) fn generate(dice: Dice, repo: &str, number: u64, state: PullState) -> Self {
        let dice = dice.of("pull").at(number);
        let owner = repo.split('/').next().unwrap_or_default();
        let author = Actor::author(dice.of("author"), owner);
        let draft =
            state == PullState::Open && author.kind == ActorKind::User && dice.of("draft").percent(15);
        let fork = author.kind == ActorKind::User && dice.of("fork").percent(60);
        let head_repo = if fork { format!("{}/{}", author.login, name_of(repo)) } else { repo.to_owned() };
        let mergeable = merge_roll(dice.of("merge"), state);
        let topic = dice.of("word").pick(WORDS);
        Self {
            number,
            title: format!("{} the {topic} ({number})", dice.of("verb").pick(VERBS)),
            state,
            draft,
            labels: labels(dice.of("labels")),
            base: dice.of("base").pick(&["main", "main", "main", "main", "release", "develop"]).to_owned(),
            base_oid: dice.of("base oid").oid(),
            head: format!("{topic}-{number}"),
            head_repo: (!dice.of("deleted fork").percent(2)).then_some(head_repo),
            head_oid: oid(dice.of("head"), number),
            mergeable,
            merge_state: merge_state(dice.of("merge state"), draft, mergeable, state),
            requested_reviewers: asked(dice.of("asked")),
            created_secs: created_secs(dice, number),
            updated_secs: updated_secs(dice, number),
            size: (
                dice.of("added").below(900),
                dice.of("removed").below(300),
                1 + dice.of("commits").below(9),
            ),
            author,
        }
    }

    /// `opened` in the words of the API.
    pub fn created_at(&self) -> String {
        instant(self.created_secs)
    }

    /// Last change in the words of the API.
    pub fn updated_at(&self) -> String {
        instant(self.updated_secs)
    }

    /// End in the words of the API.
    pub(super) fn closed_at(&self) -> Option<String> {
        (self.state != PullState::Open).then(|| self.updated_at())
    }

    /// A new commit: the head moves, as after `git push`.
    pub(super) fn push(&mut self) {
        self.head_oid = oid(Dice::new(self.created_secs).of(&self.head_oid), self.number);
        self.updated_secs += 60;
    }
}

/// When the generated pull request was last changed; cheap, for sorting without making the rest.
pub(super) fn updated_secs(dice: Dice, number: u64) -> u64 {
    created_secs(dice, number) + dice.of("updated").below(30 * 86_400)
}

/// When the generated pull request was opened.
pub(super) fn created_secs(dice: Dice, number: u64) -> u64 {
    EPOCH_SECS + number * STEP_SECS + dice.of("created").below(STEP_SECS)
}

/// The number of the pull request that an object id of the twin belongs to.
pub(super) fn number_of(oid: &str) -> Option<u64> {
    u64::from_str_radix(oid.get(40 - NUMBER_DIGITS..40)?, 16).ok()
}

fn oid(dice: Dice, number: u64) -> String {
    let random = dice.oid();
    format!("{}{number:08x}", random.get(..40 - NUMBER_DIGITS).unwrap_or_default())
}

fn name_of(repo: &str) -> &str {
    repo.split_once('/').map_or(repo, |(_, name)| name)
}

fn labels(dice: Dice) -> Vec<String> {
    let has = |label: &&&str| dice.of(label).percent(18);
    LABELS.iter().filter(has).map(|label| (*label).to_owned()).collect()
}

fn asked(dice: Dice) -> Vec<String> {
    ["ana", "ben", "cleo"]
        .iter()
        .filter(|login| dice.of(login).percent(20))
        .map(|l| (*l).to_owned())
        .collect()
}

fn merge_roll(dice: Dice, state: PullState) -> Option<bool> {
    match (state, dice.below(100)) {
        (PullState::Merged, _) | (_, 97..) => None,
        (_, roll) => Some(roll >= 12),
    }
}

/// `mergeable_state`, in the words of the GraphQL enum `MergeStateStatus` in lower case.
fn merge_state(dice: Dice, draft: bool, mergeable: Option<bool>, state: PullState) -> String {
    let word = match (state, mergeable) {
        (PullState::Merged, _) | (_, None) => "unknown",
        (_, Some(false)) => "dirty",
        (_, Some(true)) if draft => "draft",
        (_, Some(true)) => dice.pick(&["clean", "clean", "blocked", "behind", "unstable"]),
    };
    word.to_owned()
}
