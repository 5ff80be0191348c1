//! The plan of a Turn (`loom.turn_plan/v1`); making one runs nothing and writes nothing.

use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde_json::json;

use super::order::TurnOrder;
use crate::{Catalog, CatalogEntry, Cx, Effect, Effects, HostModePlan, Status, World, sha256_of};

/// A connector of a plan.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct TurnPlanConnector {
    /// Canonical id.
    pub connector_id: String,
    /// Version.
    pub version: String,
    /// Operation.
    pub operation: String,
    /// Digest of the input with its defaults.
    pub input_digest: String,
    /// What it does.
    pub effect: Effect,
    /// Gate of a write; there is none yet.
    pub gate_id: Option<String>,
    /// Whether it can run.
    pub readiness: Status,
    /// The whole entry of the catalog.
    pub connector: CatalogEntry,
    /// Digest of the run's own plan.
    pub plan_digest: String,
}

/// The Agent of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TurnPlanAgent {
    /// Id or name as it was given.
    pub id: String,
    /// Runtime; null where no hub was asked.
    pub runtime: Option<String>,
}

/// Limits of a Turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TurnLimits {
    /// Seconds of the whole Turn.
    pub deadline_seconds: u64,
    /// Most connectors.
    pub connectors_max: usize,
}

/// What a Turn would do.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct TurnPlan {
    /// `loom.turn_plan/v1`.
    pub schema_version: &'static str,
    /// Id; null until it begins.
    pub turn_id: Option<String>,
    /// Key.
    pub turn_key: Option<String>,
    /// `connectors`, or `agent`.
    pub kind: &'static str,
    /// Connectors in order.
    pub connectors: Vec<TurnPlanConnector>,
    /// Plan of the host.
    pub host: Option<HostModePlan>,
    /// Agent.
    pub agent: Option<TurnPlanAgent>,
    /// What happens, in order.
    pub phases: Vec<&'static str>,
    /// Limits.
    pub limits: TurnLimits,
    /// Whose trust its content has.
    pub trust_domain: String,
    /// Digest of all of this but ids, readiness and host.
    pub plan_digest: String,
    /// All zero.
    pub effects: Effects,
}

impl TurnPlan {
    /// Makes the plan; every id is looked up before anything else.
    pub async fn make(world: &World, catalog: &Catalog, order: &TurnOrder) -> Result<Self> {
        let order = order.clone().checked(catalog)?;
        let mut connectors = Vec::new();
        for call in &order.connectors {
            connectors.push(connector(world, catalog, call).await?);
        }
        let agent = order.agent.clone().map(|id| TurnPlanAgent { id, runtime: None });
        let mut phases = Vec::new();
        phases.extend((!connectors.is_empty()).then_some("connectors"));
        phases.extend(agent.is_some().then_some("agent"));
        phases.push("commit");
        let calls: Vec<&str> = connectors.iter().map(|one| one.plan_digest.as_str()).collect();
        let plan_digest = sha256_of(&json!({
            "calls": calls, "agent": order.agent, "prompt": order.prompt, "host": order.host,
            "on_error": order.on_error, "trust_domain": order.trust_domain,
            "deadline_seconds": order.deadline_seconds(),
        }));
        Ok(TurnPlan {
            schema_version: "loom.turn_plan/v1",
            turn_id: None,
            turn_key: order.turn_key.clone(),
            kind: if agent.is_some() { "agent" } else { "connectors" },
            connectors,
            host: None,
            agent,
            phases,
            limits: TurnLimits {
                deadline_seconds: order.deadline_seconds(),
                connectors_max: super::order::CONNECTORS_MAX,
            },
            trust_domain: order.trust_domain.clone(),
            plan_digest,
            effects: Effects::default(),
        })
    }

    /// Fails when a connector would write: writes need an approval of their own, which no Turn carries.
    pub fn require_reads(&self) -> Result<()> {
        let write = self.connectors.iter().find(|one| one.effect == Effect::Write);
        match write {
            None => Ok(()),
            Some(one) => {
                let why = format!("{} {} writes; a Turn reads", one.connector_id, one.operation);
                Err(Error::new(Code::ApprovalRequired, why)
                    .with_hint("loom value-connectors plan")
                    .with_detail("connector_id", one.connector_id.as_str()))
            }
        }
    }
}

async fn connector(world: &World, catalog: &Catalog, call: &super::TurnCall) -> Result<TurnPlanConnector> {
    let capability = catalog.connector(&call.connector)?;
    let request = call.request();
    let plan = crate::plan(world, &**capability, request.clone())?;
    let mut entry = capability.entry().clone();
    let operation = entry.find_operation(&plan.operation);
    let operation = operation.ok_or_else(|| crate::plan::no_operation(&entry, &plan.operation))?;
    let cx = Cx::new(world, &entry, operation, &request.settings, request.limits);
    let readiness = capability.readiness(&cx, Some(&plan.operation)).await;
    let status = readiness.operations.get(&plan.operation).copied().unwrap_or(readiness.status);
    entry.readiness = readiness;
    Ok(TurnPlanConnector {
        connector_id: entry.qualified(),
        version: plan.connector_version.clone(),
        operation: plan.operation.clone(),
        input_digest: sha256_of(&plan.input),
        effect: plan.effect,
        gate_id: None,
        readiness: status,
        connector: entry,
        plan_digest: plan.plan_digest,
    })
}
