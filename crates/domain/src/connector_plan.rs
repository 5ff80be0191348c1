//! Plans of connector calls (`loom.connector_plan/v1`): what was asked for, and what would be done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentId, GateId, OperationId, Timestamp};

/// Schema of a plan.
pub const SCHEMA: &str = "loom.connector_plan/v1";
/// Most calls of a plan.
pub const CALLS_MAX: usize = 100;

/// One call as it was asked for. Everything else of a call is computed from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOrder {
    /// Name of the call in its plan; made up when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Connector.
    #[serde(alias = "connector_id")]
    pub connector: String,
    /// Operation; absent is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Input.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Credential references by name; the owner's only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credential_refs: BTreeMap<String, String>,
    /// Base URL; the owner's only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Limits of the run.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub limits: Value,
    /// As whom it is sent, in the words of whoever asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_identity: Option<String>,
    /// Key that a provider tells repeats by; made of plan and call when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// A plan as people and Agents write it, before anything of it is computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// `loom.connector_plan/v1`.
    #[serde(default = "schema")]
    pub schema_version: String,
    /// Id; one is made up when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Remarks by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Calls.
    pub calls: Vec<CallOrder>,
}

fn schema() -> String {
    SCHEMA.to_owned()
}

impl PlanFile {
    /// A plan of one call.
    pub fn of(call: CallOrder) -> Self {
        PlanFile { schema_version: schema(), calls: vec![call], ..PlanFile::default() }
    }
}

/// One call as it would be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// Name of the call in its plan.
    pub call_id: String,
    /// Canonical id of the connector.
    pub connector_id: String,
    /// Its version.
    pub connector_version: String,
    /// Operation.
    pub operation: String,
    /// Where it goes.
    pub target_ref: String,
    /// As whom.
    pub sender_identity: Option<String>,
    /// `read` or `write`.
    pub effect: String,
    /// Objects it touches.
    pub resources: BTreeMap<String, String>,
    /// What would be sent, with every invisible character spelled out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Digest of the exact bytes.
    pub content_digest: Option<String>,
    /// Digest of everything that an approval is bound to.
    pub call_digest: String,
    /// Gate; null for what needs none.
    pub gate: Option<GateId>,
    /// Whether it needs one.
    pub gated: bool,
    /// `ready`, or what is missing.
    pub readiness: String,
    /// What the owner should know.
    pub risks: Vec<String>,
}

/// A stored plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectorPlan {
    /// Id.
    pub id: OperationId,
    /// Order of commit.
    pub seq: u64,
    /// Agent that made it; absent is the owner.
    pub agent_id: Option<AgentId>,
    /// What it is for.
    pub objective: Option<String>,
    /// Remarks by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Calls.
    pub calls: Vec<PlannedCall>,
    /// What was asked for, call by call.
    pub orders: Vec<CallOrder>,
    /// Creation.
    pub created_at: Timestamp,
}

/// Who a plan waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingOn {
    /// The owner has to decide.
    Owner,
    /// Whoever made it can run it.
    Agent,
    /// Nobody.
    None,
}

/// A plan at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanProjection {
    /// Who has to act.
    pub waiting_on: WaitingOn,
    /// Calls that need a gate.
    pub gated: usize,
    /// Calls that need none.
    pub safe: usize,
    /// Calls that are not ready.
    pub blocked: usize,
}

/// The plan at a glance. `open` and `approved` count its gates.
pub fn project(calls: &[PlannedCall], open: usize, approved: usize) -> PlanProjection {
    let gated = calls.iter().filter(|call| call.gated).count();
    let blocked = calls.iter().filter(|call| call.readiness != "ready").count();
    let is_stored = calls.iter().any(|call| call.gate.is_some());
    let waiting_on = match (open, approved) {
        (1.., _) => WaitingOn::Owner,
        (0, 1..) => WaitingOn::Agent,
        (0, 0) if gated == 0 || !is_stored => WaitingOn::Agent,
        (0, 0) => WaitingOn::None,
    };
    PlanProjection { waiting_on, gated, safe: calls.len() - gated, blocked }
}
