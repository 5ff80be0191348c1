//! Requests about Memberships.

use loom_domain::membership::QuietHours;
use loom_domain::{ConversationType, OutboundPolicy, ReplyPolicy, TriggerPolicy};
use serde::{Deserialize, Serialize};

/// Settings of a Membership; creates it (disabled unless said) or changes the named fields.
/// It is also the document of `loom conversation set --file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SetMembership {
    /// Kind of conversation; immutable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_type: Option<ConversationType>,
    /// The one person of a DM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// Cosmetic name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the conversation is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Who the Agent is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it should heed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
    /// Own trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_policy: Option<TriggerPolicy>,
    /// Own reply policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_policy: Option<ReplyPolicy>,
    /// What may be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outbound_policy: Option<OutboundPolicy>,
    /// Equal to the Address's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_domain: Option<String>,
    /// Time to live of sends, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// Quiet hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
    /// Proactive sends per hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proactive_per_hour: Option<u32>,
    /// On or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Fields to empty: `displayName purpose role guidance quietHours`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<String>,
    /// Version the change is based on; 0 means it must not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A change that names nothing but the version it is based on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Versioned {
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// Enables a Membership.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EnableMembership {
    /// Whether pending items of a DM stay pending.
    pub keep_pending: bool,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A change that needs the object's id, typed again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Confirm {
    /// The id; absent or different: `confirmation_required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A check of one Membership through the normal path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TestMembership {
    /// Whether to wait for a message with a code instead of sending one.
    pub inbound: bool,
    /// The 6 digits to wait for, so that whoever asks knows them before; the hub makes some otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Longest wait in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}
