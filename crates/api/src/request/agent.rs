//! Requests about Agents and their Threads.

use loom_domain::RuntimeKind;
use loom_domain::agent::{OnInterrupted, OnOversize};
use serde::{Deserialize, Serialize};

use super::send::File;

/// A new Agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateAgent {
    /// Unique name.
    pub name: String,
    /// Kind of runtime.
    pub runtime: RuntimeKind,
    /// Absolute, existing working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Sandbox word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Approval word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Endpoint URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Owner's text about the Agent, at most 16 000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Argument vector of the runtime.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Whether a failed probe of the runtime is an error instead of a warning.
    #[serde(default)]
    pub require_probe: bool,
}

/// A change of an Agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UpdateAgent {
    /// New name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absolute, existing working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Model name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Sandbox word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Approval word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// What happens to interrupted items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_interrupted: Option<OnInterrupted>,
    /// What happens to oversized answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_oversize: Option<OnOversize>,
    /// Absolute limit of a Turn in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turn_seconds: Option<u64>,
    /// Whether to start a new Thread and forget its labels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_thread: bool,
    /// Fields to empty: `cwd model effort sandbox approval profile`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<String>,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// The end of an Agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ArchiveAgent {
    /// Whether its Addresses are archived in the same Operation.
    pub with_addresses: bool,
    /// The Agent's name, typed again; without it only the plan is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// Input of the owner to an Agent's Thread; nothing goes to a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThreadInput {
    /// Text.
    pub text: String,
    /// Uploaded files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
}
