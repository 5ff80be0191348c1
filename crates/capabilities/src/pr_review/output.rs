//! The record `loom.pr_record/v1`, and what the operations about one pull request give.

use schemars::JsonSchema;
use serde::Serialize;

use super::checks::CheckState;
use super::reviews::Decision;

/// A text of people with the trust in them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Words {
    #[schemars(length(max = 65_536))]
    pub(super) text: String,
    #[schemars(length(max = 20))]
    pub(super) trust: &'static str,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Title {
    #[schemars(length(max = 300))]
    pub(super) text: String,
    #[schemars(length(max = 20))]
    pub(super) trust: &'static str,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Author {
    #[schemars(length(max = 100))]
    pub(super) login: String,
    pub(super) id: Option<u64>,
    #[schemars(length(max = 30))]
    pub(super) r#type: String,
    #[schemars(length(max = 40))]
    pub(super) association: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) trust: &'static str,
    /// Whether it is the account of the token; null while nobody asked whose that is.
    pub(super) is_self: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Base {
    #[schemars(length(max = 300))]
    pub(super) r#ref: String,
    #[schemars(length(max = 64))]
    pub(super) oid: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Head {
    #[schemars(length(max = 300))]
    pub(super) r#ref: String,
    /// Null when the fork was deleted.
    #[schemars(length(max = 150))]
    pub(super) repo: Option<String>,
    #[schemars(length(max = 64))]
    pub(super) oid: String,
    pub(super) fork: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Size {
    pub(super) files: u64,
    pub(super) additions: u64,
    pub(super) deletions: u64,
    pub(super) commits: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Reviews {
    pub(super) decision: Decision,
    pub(super) approvals: u64,
    pub(super) changes_requested: u64,
    pub(super) approved_head: bool,
    #[schemars(length(max = 100))]
    pub(super) latest: Vec<LatestReview>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct LatestReview {
    #[schemars(length(max = 100))]
    pub(super) reviewer: String,
    #[schemars(length(max = 20))]
    pub(super) trust: &'static str,
    #[schemars(length(max = 30))]
    pub(super) state: String,
    pub(super) head_match: bool,
    #[schemars(length(max = 30))]
    pub(super) submitted_at: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Threads {
    pub(super) total: u64,
    /// Null while the resolution is unknown.
    pub(super) unresolved: Option<u64>,
    /// `known`, or `unknown`: only GraphQL tells it, and that wants a token.
    #[schemars(length(max = 10))]
    pub(super) resolution: &'static str,
    #[schemars(length(max = 500))]
    pub(super) items: Vec<Thread>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Thread {
    #[schemars(length(max = 1000))]
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) resolved: Option<bool>,
    #[schemars(length(max = 200))]
    pub(super) comments: Vec<Comment>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Comment {
    pub(super) id: u64,
    #[schemars(length(max = 100))]
    pub(super) author: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) trust: &'static str,
    #[schemars(length(max = 30))]
    pub(super) created_at: Option<String>,
    pub(super) head_match: bool,
    /// Only with `full`.
    pub(super) body: Option<Words>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Checks {
    pub(super) state: CheckState,
    /// The numbers are null when not all of them could be read.
    pub(super) total: Option<u64>,
    pub(super) passing: Option<u64>,
    pub(super) failing: Option<u64>,
    pub(super) pending: Option<u64>,
    #[schemars(length(max = 1000))]
    pub(super) items: Vec<Check>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Check {
    #[schemars(length(max = 300))]
    pub(super) name: String,
    /// `check_run` or `status`.
    #[schemars(length(max = 10))]
    pub(super) source: &'static str,
    pub(super) state: CheckState,
    #[schemars(length(max = 30))]
    pub(super) conclusion: Option<String>,
    #[schemars(length(max = 1000))]
    pub(super) url: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Merge {
    /// `yes`, `no` or `unknown`.
    #[schemars(length(max = 10))]
    pub(super) mergeable: &'static str,
    #[schemars(length(max = 20))]
    pub(super) state: &'static str,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Queue {
    #[schemars(length(max = 20))]
    pub(super) lane: Option<String>,
    #[schemars(length(max = 30))]
    pub(super) ready_since: Option<String>,
    pub(super) handled: bool,
}

/// A pull request (`loom.pr_record/v1`). Parts that were not read, or could not be, are null; the latter stand in
/// `partial`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Record {
    #[schemars(length(max = 400))]
    pub(super) key: String,
    #[schemars(length(max = 255))]
    pub(super) host: String,
    #[schemars(length(max = 150))]
    pub(super) repo: String,
    pub(super) number: u64,
    #[schemars(length(max = 500))]
    pub(super) url: String,
    /// `open`, `closed` or `merged`.
    #[schemars(length(max = 10))]
    pub(super) state: &'static str,
    pub(super) draft: bool,
    pub(super) title: Title,
    pub(super) author: Option<Author>,
    #[schemars(length(max = 100), inner(length(max = 100)))]
    pub(super) labels: Vec<String>,
    pub(super) base: Base,
    pub(super) head: Head,
    #[schemars(length(max = 30))]
    pub(super) created_at: String,
    #[schemars(length(max = 30))]
    pub(super) updated_at: Option<String>,
    #[schemars(length(max = 30))]
    pub(super) closed_at: Option<String>,
    #[schemars(length(max = 30))]
    pub(super) merged_at: Option<String>,
    pub(super) size: Option<Size>,
    pub(super) reviews: Option<Reviews>,
    pub(super) threads: Option<Threads>,
    pub(super) checks: Option<Checks>,
    pub(super) merge: Option<Merge>,
    pub(super) queue: Option<Queue>,
    #[schemars(length(max = 10))]
    pub(super) detail: &'static str,
    #[schemars(length(max = 10), inner(length(max = 20)))]
    pub(super) partial: Vec<&'static str>,
}

/// What `threads` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThreadsFields {
    #[schemars(length(max = 400))]
    pub(super) key: String,
    pub(super) threads: Option<Threads>,
    #[schemars(length(max = 10), inner(length(max = 20)))]
    pub(super) partial: Vec<&'static str>,
}

/// What `checks` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChecksFields {
    #[schemars(length(max = 400))]
    pub(super) key: String,
    pub(super) checks: Option<Checks>,
    #[schemars(length(max = 10), inner(length(max = 20)))]
    pub(super) partial: Vec<&'static str>,
}

/// What an observation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Observation {
    /// The list was not read whole: nothing is compared and nothing kept.
    NotObserved,
    /// Nothing material changed.
    Unchanged,
    /// Something did.
    MaterialChange,
}

/// What a scan for the queue gives beside its items.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueFields {
    pub(super) observation: Observation,
    #[schemars(length(max = 50))]
    pub(super) offers: Vec<QueueOffer>,
    pub(super) backlog: Waiting,
    #[schemars(length(max = 10_000), inner(length(max = 400)))]
    pub(super) added: Vec<String>,
    #[schemars(length(max = 10_000), inner(length(max = 400)))]
    pub(super) removed: Vec<String>,
    #[schemars(length(max = 10_000))]
    pub(super) changed: Vec<Changed>,
}

/// A head whose turn it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueOffer {
    #[schemars(length(max = 64))]
    pub(super) offer_id: String,
    #[schemars(length(max = 400))]
    pub(super) key: String,
    #[schemars(length(max = 20))]
    pub(super) lane: &'static str,
    #[schemars(length(max = 30))]
    pub(super) ready_since: String,
    #[schemars(length(max = 200))]
    pub(super) reason: String,
}

/// What waits.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waiting {
    pub(super) unhandled: u64,
    pub(super) oldest_age_seconds: u64,
    pub(super) next_poll_seconds: u32,
}

/// A head with its material changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Changed {
    #[schemars(length(max = 400))]
    pub(super) key: String,
    #[schemars(length(max = 10), inner(length(max = 20)))]
    pub(super) fields: Vec<&'static str>,
}
