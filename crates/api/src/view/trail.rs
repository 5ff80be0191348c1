//! The whole path of one message.

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// One time-ordered path and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Where {
    /// `DELIVERED`, `WAITING`, `REFUSED`, `FAILED`, `UNKNOWN`, `EXPIRED` or `CANCELLED`.
    pub verdict: String,
    /// Why: a reason code, error code or what it waits for.
    #[serde(default)]
    pub reason: Option<String>,
    /// The steps, oldest first.
    #[serde(default)]
    pub steps: Vec<TrailStep>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrailStep {
    /// When.
    pub at: Timestamp,
    /// Order.
    #[serde(default)]
    pub seq: Option<u64>,
    /// `event`, `decision`, `inbox`, `turn`, `outbox`, `part` or `receipt`.
    pub layer: String,
    /// Object.
    #[serde(default)]
    pub id: Option<String>,
    /// What happened.
    pub text: String,
    /// Code of it.
    #[serde(default)]
    pub code: Option<String>,
}
