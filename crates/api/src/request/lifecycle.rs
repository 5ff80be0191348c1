//! Lifecycle changes of Addresses and Connections.

use loom_domain::words;
use serde::{Deserialize, Serialize};

words! {
    /// What is to happen.
    pub enum LifecycleAction {
        /// Read-only from now on.
        Archive = "archive",
        /// Back from the archive, disabled.
        Restore = "restore",
        /// Gone; its identity is free again.
        Delete = "delete",
        /// To another Agent.
        Transfer = "transfer",
    }
}

words! {
    /// What happens to open work.
    pub enum OpenWork {
        /// It blocks the change.
        Refuse = "refuse",
        /// The change waits for it.
        Drain = "drain",
        /// It is cancelled.
        Cancel = "cancel",
    }
}

/// A lifecycle change; without `confirm` only the plan is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lifecycle {
    /// What is to happen.
    pub action: LifecycleAction,
    /// New owner, for a transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_agent: Option<String>,
    /// What happens to open work; absent means `refuse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_work: Option<OpenWork>,
    /// The object's id, typed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// Longest wait of `drain`, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Version the change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Whether only the plan is wanted.
    #[serde(default)]
    pub dry_run: bool,
}

/// Stops the hub.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Stop {
    /// Longest time for work in flight, seconds; the configured one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<u64>,
}
