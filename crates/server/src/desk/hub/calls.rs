//! Calls of connectors of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Page, query, request, view};
use loom_domain::connector_plan::PlanFile;
use loom_domain::{Error, Gate, GateId, Grant, GrantId, OperationId, Principal};
use serde_json::Value;

use super::HubDesk;
use crate::desk::{Calls, Intent};

#[async_trait]
impl Calls for HubDesk {
    async fn submit_plan(&self, intent: Intent, file: PlanFile) -> Result<view::PlanEntry, Error> {
        Box::pin(self.hub.submit_plan(self.real(intent)?.principal, file)).await
    }
    async fn connector_plans(
        &self,
        who: Principal,
        query: query::Paging,
    ) -> Result<Page<view::PlanEntry>, Error> {
        self.hub.connector_plans(who, query).await
    }
    async fn connector_plan(&self, who: Principal, id: OperationId) -> Result<view::PlanEntry, Error> {
        self.hub.connector_plan(who, id).await
    }
    async fn run_plan(
        &self,
        intent: Intent,
        id: OperationId,
        request: request::RunPlan,
        wait: Duration,
    ) -> Result<view::PlanEntry, Error> {
        Box::pin(self.hub.run_plan(self.real(intent)?.principal, id, request, wait)).await
    }
    async fn decide_gate(
        &self,
        intent: Intent,
        plan: OperationId,
        gate: GateId,
        request: request::DecideGate,
    ) -> Result<Gate, Error> {
        self.hub.decide_gate(intent.principal, plan, gate, request, intent.dry_run).await
    }
    async fn grants(&self, who: Principal, query: query::Grants) -> Result<Page<Grant>, Error> {
        self.hub.grants(who, query).await
    }
    async fn give_grant(&self, intent: Intent, request: request::GiveGrant) -> Result<Grant, Error> {
        self.hub.give_grant(self.real(intent)?.principal, request).await
    }
    async fn revoke_grant(&self, intent: Intent, id: GrantId) -> Result<Grant, Error> {
        self.hub.revoke_grant(self.real(intent)?.principal, id).await
    }
    async fn run_capability(
        &self,
        intent: Intent,
        id: String,
        request: request::CapabilityRun,
    ) -> Result<Value, Error> {
        Box::pin(self.hub.run_capability(self.real(intent)?.principal, id, request)).await
    }
}
