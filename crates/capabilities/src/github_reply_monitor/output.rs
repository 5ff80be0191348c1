use schemars::JsonSchema;

use crate::github::record::Author;

/// What a monitor run gives.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct MonitorFields {
    anchor: Anchor,
    new_reply_count: u32,
    maintainer_reply_count: u32,
    bot_reply_count: u32,
    #[schemars(length(max = 1000))]
    replies: Vec<Reply>,
    gated_field_count: u32,
    complete: bool,
    #[schemars(length(max = 30))]
    recommended_action: String,
    #[schemars(length(max = 10), inner(length(max = 40)))]
    warnings: Vec<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
struct Anchor {
    id: u64,
    found: bool,
    #[schemars(length(max = 30))]
    created_at: Option<String>,
    author: Option<Author>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
struct Reply {
    id: u64,
    author: Option<Author>,
    #[schemars(length(max = 40))]
    author_association: Option<String>,
    #[schemars(length(max = 20))]
    trust: String,
    is_maintainer: bool,
    #[schemars(length(max = 30))]
    created_at: String,
    #[schemars(length(max = 30))]
    updated_at: Option<String>,
    #[schemars(length(max = 300))]
    url: Option<String>,
}
