//! Changes of the whole configuration. Documents of the integration branch are `snake_case`.

use loom_domain::integration::Plan;
use serde::{Deserialize, Serialize};

/// A plan that is applied as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyIntegration {
    /// The plan, as it was shown and approved.
    pub plan: Plan,
    /// Revision of the branch.
    pub revision: String,
    /// Apply that is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<String>,
}
