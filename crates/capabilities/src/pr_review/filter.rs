//! `--filter`: which pull requests are wanted. Pure.

mod parse;

use super::checks::CheckState;
use super::pull::Pull;
use super::read::{Details, Parts};
use super::reviews::Decision;

/// What a term asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    State,
    Draft,
    Author,
    Reviewer,
    Label,
    Base,
    Head,
    Review,
    Checks,
    Mergeable,
    Since,
    Updated,
    Number,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    key: Key,
    value: String,
    negated: bool,
}

/// Terms that must all hold; several values of one key are alternatives, each negated one must not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter(Vec<Term>);

impl Filter {
    /// `state` of the list that holds everything wanted.
    pub(super) fn list_state(&self) -> &'static str {
        let may = |state: &str| self.holds(Key::State, |value| value == state);
        match (may("open"), may("closed") || may("merged")) {
            (true, false) => "open",
            (false, true) => "closed",
            _ => "all",
        }
    }

    /// The parts that have to be read to decide.
    pub(super) fn needs(&self) -> Parts {
        let asks = |key: Key| self.0.iter().any(|term| term.key == key);
        Parts {
            whole: asks(Key::Mergeable),
            reviews: asks(Key::Review) || asks(Key::Reviewer),
            checks: asks(Key::Checks),
            threads: false,
        }
    }

    /// What can be judged by the list alone.
    pub(super) fn fits_list(&self, pull: &Pull) -> bool {
        let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        let author = pull.author.as_ref().map(|author| author.login.as_str()).unwrap_or_default();
        let number = pull.number.to_string();
        let updated = pull.updated_at.as_deref().unwrap_or_default();
        self.holds(Key::State, |value| value == pull.state())
            && self.holds(Key::Draft, |value| (value == "draft") == pull.draft)
            && self.holds(Key::Author, |value| same(value, author))
            && self.holds(Key::Label, |value| pull.labels.iter().any(|label| same(label, value)))
            && self.holds(Key::Base, |value| value == pull.base.branch)
            && self.holds(Key::Head, |value| {
                value == pull.head.branch || pull.head.label.as_deref() == Some(value)
            })
            && self.holds(Key::Since, |value| pull.created_at.as_str() >= value)
            && self.holds(Key::Updated, |value| updated >= value)
            && self.holds(Key::Number, |value| value == number)
    }

    /// What needs the details. A part that could not be read fits no value.
    pub(super) fn fits_details(&self, pull: &Pull, details: &Details) -> bool {
        let reviews = details.reviews(pull);
        let decision = reviews.as_ref().map(|reviews| reviews.decision);
        let reviewers: Vec<&str> =
            reviews.iter().flat_map(|reviews| &reviews.latest).map(|r| r.reviewer.as_str()).collect();
        let reviews_it = |login: &str| {
            let asked = pull.asked.iter().map(String::as_str);
            asked.chain(reviewers.iter().copied()).any(|one| one.eq_ignore_ascii_case(login))
        };
        let mergeable = details.merge().map(|merge| merge.mergeable);
        let checks = details.check_state();
        self.holds(Key::Reviewer, reviews_it)
            && self.holds(Key::Review, |value| decision.map(Decision::as_str) == Some(value))
            && self.holds(Key::Checks, |value| checks.map(CheckState::as_str) == Some(value))
            && self.holds(Key::Mergeable, |value| mergeable == Some(value))
    }

    fn holds(&self, key: Key, test: impl Fn(&str) -> bool) -> bool {
        let of_key = || self.0.iter().filter(|term| term.key == key);
        let mut wanted = of_key().filter(|term| !term.negated).peekable();
        let fits = wanted.peek().is_none() || wanted.any(|term| test(&term.value));
        fits && of_key().filter(|term| term.negated).all(|term| !test(&term.value))
    }
}
