use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much is read of each pull request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Detail {
    /// What the list says.
    List,
    /// Also size, mergeability, reviews and checks.
    #[default]
    Standard,
    /// Also inline comments and threads, with their texts.
    Full,
}

/// Input of `scan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanInput {
    /// Repository, OWNER/REPO or its address
    #[schemars(length(min = 1, max = 50), inner(length(max = 300)))]
    pub(super) repo: Vec<String>,
    /// Terms that must hold, such as "open -draft label:bug"
    #[schemars(length(max = 1000))]
    pub(super) filter: Option<String>,
    /// How much is read of each pull request: list, standard, full
    #[serde(default = "listed")]
    #[schemars(extend("enum" = ["list", "standard", "full"]), with = "String")]
    pub(super) detail: Detail,
    /// Most pull requests
    #[schemars(range(min = 1, max = 100_000))]
    #[expect(dead_code, reason = "the run reads it as its limit")]
    pub(super) limit: Option<u32>,
    /// Requests in flight
    #[serde(default = "concurrency")]
    #[schemars(range(min = 1, max = 32))]
    pub(super) concurrency: u32,
    /// Wait for the end of GitHub's window when its limit is used up
    #[serde(default)]
    pub(super) wait_for_reset: bool,
    /// Longest of these waits in seconds
    #[serde(default = "wait_seconds")]
    #[schemars(range(min = 1, max = 86_400))]
    pub(super) wait_seconds: u32,
    /// Compare with the last observation and offer the heads whose turn it is
    #[serde(default)]
    pub(super) queue: bool,
    /// Heads that are offered at once
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 50))]
    pub(super) take: u32,
    /// File of the queue instead of the one below the home
    #[schemars(length(max = 4096))]
    pub(super) state_file: Option<String>,
}

/// What came of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// Approved.
    Approved,
    /// Changes were requested; the next head goes first once.
    ChangesRequested,
    /// Commented.
    Commented,
    /// Nothing was done.
    Skipped,
}

/// Input of `handled`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HandledInput {
    /// Head that was offered, HOST/OWNER/REPO#N@OID
    #[schemars(length(min = 1, max = 400))]
    pub(super) key: String,
    /// Offer that is answered
    #[schemars(length(min = 1, max = 64))]
    pub(super) offer: String,
    /// What came of it: approved, `changes_requested`, commented, skipped
    #[schemars(extend("enum" = ["approved", "changes_requested", "commented", "skipped"]), with = "String")]
    pub(super) outcome: Outcome,
    /// Address where it can be seen
    #[schemars(length(max = 500))]
    pub(super) evidence: Option<String>,
    /// File of the queue instead of the one below the home
    #[schemars(length(max = 4096))]
    pub(super) state_file: Option<String>,
}

/// Input of `threads`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ThreadsInput {
    /// Repository, OWNER/REPO or its address
    #[schemars(length(max = 300))]
    pub(super) repo: String,
    /// Number of the pull request
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub(super) number: u64,
    /// Texts of comments come with full only: standard, full
    #[serde(default)]
    #[schemars(extend("enum" = ["standard", "full"]), with = "String")]
    pub(super) detail: Detail,
}

/// Input of `checks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChecksInput {
    /// Repository, OWNER/REPO or its address
    #[schemars(length(max = 300))]
    pub(super) repo: String,
    /// Number of the pull request
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub(super) number: u64,
}

fn listed() -> Detail {
    Detail::List
}

fn concurrency() -> u32 {
    8
}

fn one() -> u32 {
    1
}

fn wait_seconds() -> u32 {
    3_600
}
