//! Plans of connector calls. Their members are in `snake_case`.

use loom_domain::connector_plan::PlanProjection;
use loom_domain::{ConnectorPlan, Error, Gate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stored plan with its gates, and the runs of its calls when it was just run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// `loom.connector_plan/v1`.
    pub schema_version: String,
    /// The plan.
    #[serde(flatten)]
    pub plan: ConnectorPlan,
    /// Its gates.
    pub gates: Vec<Gate>,
    /// The plan at a glance.
    pub projection: PlanProjection,
    /// What ran now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<CallRun>,
    /// Whether calls still run.
    #[serde(default)]
    pub running: bool,
}

/// The run of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRun {
    /// Call.
    pub call_id: String,
    /// Whether it ended well.
    pub ok: bool,
    /// Outcome of its write: `confirmed`, `refused` or `outcome_unknown`.
    pub outcome: Option<String>,
    /// Why it did not run, or failed.
    pub error: Option<Error>,
    /// Kept payload.
    pub payload_id: Option<String>,
    /// The payload, unless it is large.
    #[serde(default)]
    pub payload: Value,
}
