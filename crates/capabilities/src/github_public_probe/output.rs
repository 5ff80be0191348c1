use schemars::JsonSchema;

use crate::github::record::{Author, Ref};

/// What a probe gives.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct ProbeFields {
    r#ref: Ref,
    metadata: Option<Metadata>,
    #[schemars(length(max = 200))]
    next_step: Option<String>,
}

/// What GitHub says about an issue, pull request or discussion.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct Metadata {
    #[schemars(length(max = 300))]
    title: String,
    #[schemars(length(max = 30))]
    state: String,
    #[schemars(length(max = 30))]
    state_reason: Option<String>,
    number: u32,
    #[schemars(length(max = 20))]
    kind: String,
    is_pull_request: bool,
    draft: Option<bool>,
    locked: Option<bool>,
    #[schemars(length(max = 100), inner(length(max = 100)))]
    labels: Vec<String>,
    comments_count: Option<u32>,
    author: Option<Author>,
    #[schemars(length(max = 40))]
    author_association: Option<String>,
    #[schemars(length(max = 20))]
    trust: String,
    #[schemars(length(max = 30))]
    created_at: Option<String>,
    #[schemars(length(max = 30))]
    updated_at: Option<String>,
    #[schemars(length(max = 30))]
    closed_at: Option<String>,
    #[schemars(length(max = 30))]
    merged_at: Option<String>,
    #[schemars(length(max = 300))]
    html_url: Option<String>,
    #[schemars(length(max = 100))]
    category: Option<String>,
    answered: Option<bool>,
    upvotes: Option<u32>,
}
