//! Requests about the hub itself.

use serde::{Deserialize, Serialize};

/// Stops the hub.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Stop {
    /// Longest time for work in flight, seconds; the configured one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<u64>,
}
