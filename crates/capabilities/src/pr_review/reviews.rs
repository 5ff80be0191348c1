//! What people decided about a pull request: pure.
//!
//! Source: GitHub REST, «List reviews for a pull request» (`state`, `author_association`, `commit_id`); reviews come
//! oldest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{LatestReview, Reviews};
use crate::github::record::{speaks_for_it, trust_of};

/// What the reviews come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decision {
    /// Somebody who speaks for the repository approved, and nobody asks for changes.
    Approved,
    /// Somebody who speaks for the repository asks for changes.
    ChangesRequested,
    /// Nobody decided, and a review is asked for.
    Required,
    /// Nobody decided.
    None,
}

impl Decision {
    /// The word in results and filters.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Decision::Approved => "approved",
            Decision::ChangesRequested => "changes_requested",
            Decision::Required => "required",
            Decision::None => "none",
        }
    }
}

/// A review.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Review {
    pub(super) login: Option<String>,
    pub(super) is_bot: bool,
    pub(super) association: String,
    pub(super) state: String,
    pub(super) commit: Option<String>,
    pub(super) submitted_at: Option<String>,
}

/// Whether a word decides; a comment changes nothing.
fn decides(state: &str) -> bool {
    matches!(state, "APPROVED" | "CHANGES_REQUESTED" | "DISMISSED")
}

/// The decision of the reviews of a head.
pub(super) fn decide(reviews: &[Review], head: &str, is_asked_for: bool) -> Reviews {
    let mut latest: Vec<&Review> = Vec::new();
    for review in reviews.iter().filter(|review| review.state != "PENDING") {
        let known = latest.iter().position(|one| one.login == review.login && one.login.is_some());
        match known.and_then(|at| latest.get_mut(at)) {
            None => latest.push(review),
            Some(one) if decides(&review.state) || !decides(&one.state) => *one = review,
            Some(_) => {}
        }
    }
    let trust = |review: &Review| trust_of(&review.association, review.is_bot);
    let matches_head = |review: &Review| review.commit.as_deref() == Some(head);
    let of_state = |state: &str| {
        latest
            .iter()
            .filter(|review| review.state == state && speaks_for_it(trust(review)))
            .collect::<Vec<_>>()
    };
    let (approvals, objections) = (of_state("APPROVED"), of_state("CHANGES_REQUESTED"));
    let decision = match (objections.len(), approvals.len()) {
        (1.., _) => Decision::ChangesRequested,
        (0, 1..) => Decision::Approved,
        (0, 0) if is_asked_for => Decision::Required,
        (0, 0) => Decision::None,
    };
    Reviews {
        decision,
        approvals: approvals.len() as u64,
        changes_requested: objections.len() as u64,
        approved_head: approvals.iter().any(|review| matches_head(review)),
        latest: latest
            .into_iter()
            .map(|review| LatestReview {
                reviewer: review.login.clone().unwrap_or_else(|| "ghost".to_owned()),
                trust: trust(review),
                state: review.state.to_ascii_lowercase(),
                head_match: matches_head(review),
                submitted_at: review.submitted_at.clone(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(login: &str, association: &str, state: &str, commit: &str) -> Review {
        Review {
            login: Some(login.into()),
            is_bot: false,
            association: association.into(),
            state: state.into(),
            commit: Some(commit.into()),
            submitted_at: None,
        }
    }

    #[test]
    fn the_last_decision_of_each_reviewer_who_speaks_for_the_repository_counts() {
        let of = |reviews: &[Review]| decide(reviews, "head", false).decision;
        let (approve, object) = ("APPROVED", "CHANGES_REQUESTED");
        assert_eq!(of(&[]), Decision::None);
        assert_eq!(decide(&[], "head", true).decision, Decision::Required);
        assert_eq!(of(&[review("ana", "MEMBER", approve, "head")]), Decision::Approved);
        assert_eq!(of(&[review("kim", "CONTRIBUTOR", approve, "head")]), Decision::None);
        let changed = [review("ana", "MEMBER", object, "old"), review("ana", "MEMBER", approve, "head")];
        assert_eq!(of(&changed), Decision::Approved);
        let both = [review("ana", "MEMBER", approve, "head"), review("ben", "OWNER", object, "head")];
        assert_eq!(of(&both), Decision::ChangesRequested);
        let dismissed =
            [review("ana", "MEMBER", approve, "head"), review("ana", "MEMBER", "DISMISSED", "head")];
        assert_eq!(of(&dismissed), Decision::None);
        let talk = [review("ana", "MEMBER", approve, "old"), review("ana", "MEMBER", "COMMENTED", "head")];
        let found = decide(&talk, "head", false);
        assert_eq!((found.decision, found.approved_head), (Decision::Approved, false));
        assert_eq!(found.latest.len(), 1);
        let bot = Review { is_bot: true, ..review("ci[bot]", "MEMBER", approve, "head") };
        assert_eq!(of(&[bot]), Decision::None);
    }
}
