//! Plans of connector calls, their gates, grants, and runs.

use std::time::Duration;

use loom_api::{Page, query, request, view};
use loom_domain::connector_plan::PlanFile;
use loom_domain::{Gate, GateId, Grant, GrantId, OperationId, Principal};
use serde_json::Value;

use super::{Intent, desk};

desk! {
    /// Calls of connectors.
    Calls {
        /// Stores a plan and opens its gates.
        submit_plan(intent: Intent, file: PlanFile) -> view::PlanEntry;
        /// Lists plans.
        connector_plans(principal: Principal, query: query::Paging) -> Page<view::PlanEntry>;
        /// Reads one.
        connector_plan(principal: Principal, id: OperationId) -> view::PlanEntry;
        /// Runs its calls.
        run_plan(intent: Intent, id: OperationId, request: request::RunPlan, wait: Duration) -> view::PlanEntry;
        /// Decides about one gate.
        decide_gate(intent: Intent, plan: OperationId, gate: GateId, request: request::DecideGate) -> Gate;
        /// Lists an Agent's grants.
        grants(principal: Principal, query: query::Grants) -> Page<Grant>;
        /// Gives one.
        give_grant(intent: Intent, request: request::GiveGrant) -> Grant;
        /// Takes one back.
        revoke_grant(intent: Intent, id: GrantId) -> Grant;
        /// Runs one operation.
        run_capability(intent: Intent, id: String, request: request::CapabilityRun) -> Value;
    }
}
