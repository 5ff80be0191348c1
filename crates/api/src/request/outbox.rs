//! Decisions about Outbox items.

use loom_domain::words;
use serde::{Deserialize, Serialize};

words! {
    /// What the owner knows about an unknown Part.
    pub enum Settlement {
        /// It was delivered.
        Sent = "sent",
        /// It was not delivered; send it again.
        Resend = "resend",
        /// It was not delivered; give up.
        Failed = "failed",
    }
}

/// The owner's word on unknown Parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settle {
    /// What is known.
    pub outcome: Settlement,
    /// One Part; absent means every unknown one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Provider's message id, with `sent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// A short remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The item's id, typed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
}
