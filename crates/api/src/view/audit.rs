//! The audit chain as the API shows it.

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// One audited change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    /// Place in the chain.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub principal: String,
    /// What was done.
    pub action: String,
    /// Object it was done to.
    #[serde(default)]
    pub object: Option<String>,
    /// Facts without bodies or secrets.
    #[serde(default)]
    pub detail: serde_json::Value,
    /// Hash of this row over the one before, hex.
    pub hash: String,
}

/// Chains that verify.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerdict {
    /// Always true; a broken chain is an error answer.
    pub ok: bool,
    /// Rows checked.
    pub rows: u64,
    /// Chains checked, one per hub node.
    #[serde(default)]
    pub nodes: u64,
}
