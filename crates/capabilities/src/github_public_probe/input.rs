use schemars::JsonSchema;
use serde::Deserialize;

/// Input of `probe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct ProbeInput {
    /// Issue, pull request or discussion
    #[schemars(extend("format" = "uri"), length(max = 300))]
    pub(super) url: Option<String>,
    /// Read title, state, labels and dates
    #[serde(default)]
    pub(super) fetch_metadata: bool,
    /// Seconds that one request may take
    #[serde(default = "timeout")]
    #[schemars(range(min = 0.1, max = 600.0))]
    #[expect(dead_code, reason = "the run reads it as its limit")]
    pub(super) timeout_seconds: f64,
}

fn timeout() -> f64 {
    10.0
}
