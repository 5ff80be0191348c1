//! Plans, gates, grants and runs of capabilities. Their members are in `snake_case`.

use std::collections::BTreeMap;

use loom_domain::grant::GrantEffect;
use loom_domain::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;

words! {
    /// What the owner decides about a gate.
    pub enum GateDecision {
        /// The write may be made, once.
        Approve = "approve",
        /// It may not.
        Deny = "deny",
        /// A write of unknown fate was made.
        Sent = "sent",
        /// It was not made.
        NotSent = "not_sent",
    }
}

/// The owner's decision about one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecideGate {
    /// Digest of the call, typed again.
    pub call_digest: String,
    /// What is decided.
    pub decision: GateDecision,
    /// Life of an approval, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_seconds: Option<u64>,
    /// Why, with `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which calls of a plan run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunPlan {
    /// One call; absent is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// A grant to be given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveGrant {
    /// Agent, by name or id.
    pub agent: String,
    /// Capability.
    pub capability: String,
    /// Operations.
    pub operations: Vec<String>,
    /// Values by resource key.
    #[serde(default)]
    pub resources: BTreeMap<String, Vec<String>>,
    /// Widest effect; absent is `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<GrantEffect>,
    /// Its life, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_seconds: Option<u64>,
}

/// One run of a capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapabilityRun {
    /// Operation; absent is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Input.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Limits.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub limits: Value,
    /// Whether nothing stored is used that the service does not confirm.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_cache: bool,
    /// Whether everything is read anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refresh: bool,
}
