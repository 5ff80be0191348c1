use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Input of `probe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MonitorInput {
    /// Issue or pull request
    #[schemars(extend("format" = "uri"), length(max = 300))]
    pub(super) issue_url: Option<String>,
    /// Comment after which replies count
    #[schemars(extend("format" = "uri"), length(max = 330))]
    pub(super) after_comment_url: Option<String>,
    /// Read the comments from GitHub
    #[serde(default)]
    pub(super) fetch_metadata: bool,
    /// Comments in GitHub's form, in the place of reading them
    #[schemars(extend("type" = ["array", "object"], "maxItems" = 100_000, "x-cli" = "json-file"))]
    pub(super) metadata_json: Option<Value>,
    /// Most pages of 100 comments [default: 30]
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) max_pages: Option<u32>,
}
