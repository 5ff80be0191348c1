//! Operations: durable records of large changes.

use loom_domain::{OperationId, Timestamp};
use serde::{Deserialize, Serialize};

/// A lifecycle change, import, rotation, release or apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Id.
    pub id: OperationId,
    /// Kind word, such as `archive`.
    pub kind: String,
    /// Object it is about.
    #[serde(default)]
    pub target: Option<String>,
    /// State word.
    pub state: String,
    /// Who started it.
    pub principal: String,
    /// When.
    pub created_at: Timestamp,
    /// The Operation that undid it.
    #[serde(default)]
    pub reversed_by: Option<OperationId>,
    /// Kind-specific facts.
    #[serde(default)]
    pub detail: serde_json::Value,
}
