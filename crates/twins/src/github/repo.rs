//! A repository at run time: generated from the seed, with the edits of the test on top.

use std::collections::{BTreeMap, BTreeSet};

use super::actor::Actor;
use super::builder;
use super::conversation::{self, Comment, Discussion, Issue};
use super::details::Details;
use super::pull::{self, Pull, PullState};
use crate::front::Dice;

/// A repository.
#[derive(Debug)]
pub(super) struct Repo {
    pub(super) full_name: String,
    pub(super) id: u64,
    pub(super) private: bool,
    dice: Dice,
    open: u64,
    closed: u64,
    edited: BTreeMap<u64, (Pull, Details)>,
    pub(super) issues: BTreeMap<u64, Issue>,
    pub(super) discussions: BTreeMap<u64, Discussion>,
    pub(super) deleted_comments: BTreeSet<u64>,
    /// Reads of each pull request that did not yet tell whether it can be merged.
    pub(super) mergeable_reads: BTreeMap<u64, u32>,
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Created,
    Updated,
}

impl Repo {
    pub(super) fn new(seed: u64, plan: builder::Repo) -> Self {
        let dice = Dice::new(seed).of(&plan.full_name.to_ascii_lowercase());
        Self {
            id: 100_000 + dice.of("id").below(900_000_000),
            full_name: plan.full_name,
            private: plan.private,
            dice,
            open: plan.open,
            closed: plan.closed,
            edited: BTreeMap::new(),
            issues: plan.issues.into_iter().map(|issue| (issue.number, issue)).collect(),
            discussions: plan.discussions.into_iter().map(|one| (one.number, one)).collect(),
            deleted_comments: BTreeSet::new(),
            mergeable_reads: BTreeMap::new(),
        }
    }

    pub(super) fn owner(&self) -> &str {
        self.full_name.split('/').next().unwrap_or_default()
    }

    fn count(&self) -> u64 {
        self.open + self.closed
    }

    /// The state of a pull request without making the rest of it.
    pub(super) fn state(&self, number: u64) -> Option<PullState> {
        if let Some((pull, _)) = self.edited.get(&number) {
            return Some(pull.state);
        }
        if number == 0 || number > self.count() {
            return None;
        }
        // The closed ones are spread evenly over the numbers.
        let closed_until = |number: u64| number * self.closed / self.count();
        let is_closed = closed_until(number) > closed_until(number - 1);
        let merged = self.dice.of("merged").at(number).percent(60);
        Some(match (is_closed, merged) {
            (false, _) => PullState::Open,
            (true, true) => PullState::Merged,
            (true, false) => PullState::Closed,
        })
    }

    pub(super) fn pull(&self, number: u64) -> Option<Pull> {
        if let Some((pull, _)) = self.edited.get(&number) {
            return Some(pull.clone());
        }
        self.state(number).map(|state| Pull::generate(self.dice, &self.full_name, number, state))
    }

    pub(super) fn details(&self, pull: &Pull) -> Details {
        match self.edited.get(&pull.number) {
            Some((_, details)) => details.clone(),
            None => Details::generate(self.dice, pull),
        }
    }

    /// Changes a pull request, or makes one of a new number.
    pub(super) fn edit(&mut self, number: u64, change: impl FnOnce(&mut Pull, &mut Details)) {
        let mut pull = self
            .pull(number)
            .unwrap_or_else(|| Pull::generate(self.dice, &self.full_name, number, PullState::Open));
        let mut details = self.details(&pull);
        change(&mut pull, &mut details);
        self.edited.insert(number, (pull, details));
    }

    pub(super) fn push(&mut self, number: u64) {
        self.edit(number, |pull, details| {
            pull.push();
            details.push();
        });
        self.mergeable_reads.remove(&number);
    }

    /// Every number, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let beyond = self.edited.keys().copied().filter(|number| *number > self.count());
        (1..=self.count()).chain(beyond)
    }

    /// The numbers that a list shows, in its order.
    pub(super) fn list(&self, wanted: impl Fn(PullState) -> bool, sort: Sort, descending: bool) -> Vec<u64> {
        let mut numbers: Vec<u64> =
            self.numbers().filter(|number| self.state(*number).is_some_and(&wanted)).collect();
        if sort == Sort::Updated {
            numbers.sort_by_cached_key(|number| (self.updated_secs(*number), *number));
        } else if !self.edited.is_empty() {
            numbers.sort_by_cached_key(|number| (self.created_secs(*number), *number));
        }
        if descending {
            numbers.reverse();
        }
        numbers
    }

    fn updated_secs(&self, number: u64) -> u64 {
        match self.edited.get(&number) {
            Some((pull, _)) => pull.updated_secs,
            None => pull::updated_secs(self.dice.of("pull").at(number), number),
        }
    }

    fn created_secs(&self, number: u64) -> u64 {
        match self.edited.get(&number) {
            Some((pull, _)) => pull.created_secs,
            None => pull::created_secs(self.dice.of("pull").at(number), number),
        }
    }

    /// The pull request whose head is, or was, this commit.
    pub(super) fn pull_of(&self, oid: &str) -> Option<(Pull, Details)> {
        let number = pull::number_of(oid)?;
        let known = self.pull(number)?;
        if known.head_oid == oid {
            let details = self.details(&known);
            return Some((known, details));
        }
        // A head that was pushed over is still there, with what was said about it.
        let first = Pull::generate(self.dice, &self.full_name, number, known.state);
        let details = Details::generate(self.dice, &first);
        (first.head_oid == oid).then_some((first, details))
    }

    /// The conversation of an issue or pull request.
    pub(super) fn comments(&self, number: u64) -> Option<Vec<Comment>> {
        let mut all = match self.issues.get(&number) {
            Some(issue) => issue.comments.clone(),
            None => self.details(&self.pull(number)?).comments,
        };
        all.retain(|comment| !self.deleted_comments.contains(&comment.id));
        Some(all)
    }

    pub(super) fn comment(&self, id: u64) -> Option<(u64, Comment)> {
        let number = Comment::number_of(id);
        let comment = self.comments(number)?.into_iter().find(|comment| comment.id == id)?;
        Some((number, comment))
    }

    /// Writes a comment and gives its id.
    pub(super) fn say(&mut self, number: u64, author: Actor, body: &str) -> Option<u64> {
        if let Some(issue) = self.issues.get_mut(&number) {
            return Some(conversation::append(&mut issue.comments, number, issue.created_secs, author, body));
        }
        let opened = self.pull(number)?.created_secs;
        let mut id = 0;
        self.edit(number, |_, details| {
            id = conversation::append(&mut details.comments, number, opened, author, body);
        });
        Some(id)
    }
}
