//! Decisions about Inbox items.

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// Decides that no reply will be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NoReply {
    /// Agent that decides; the token's Agent when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A short remark, at most 2 000 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Puts an item off; exactly one of `until` and `for_seconds`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Defer {
    /// Agent that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Future time, at most 30 days ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Seconds from now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_seconds: Option<u64>,
    /// A short remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Tries an Inbox or Outbox item again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Retry {
    /// Agent that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether an earlier reply that was partly delivered is accepted (Inbox only).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_partial: bool,
}

/// Cancels an Inbox or Outbox item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cancel {
    /// A short remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the sender is added to the Address's `blockActors` (Inbox only).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub block: bool,
}
