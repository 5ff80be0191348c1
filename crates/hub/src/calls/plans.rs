//! Plans: made by whoever asks, decided by the owner.

use loom_api::{Page, query, request, view};
use loom_capabilities::{Prepared, check_plan, prepare_all};
use loom_domain::connector_plan::{PlanFile, SCHEMA, project};
use loom_domain::gate::{APPROVAL_SECONDS, State};
use loom_domain::{Code, ConnectorPlan, Error, Gate, GateId, OperationId, Principal, Result};
use loom_store::ops::gates::{Decision, NewPlan};

use crate::hub::Hub;

impl Hub {
    /// Stores a plan and opens a gate for each external write. Everything is computed here, whoever asks.
    pub async fn submit_plan(&self, who: Principal, file: PlanFile) -> Result<view::PlanEntry> {
        self.takes_work()?;
        check_plan(&file)?;
        let act = self.act(who.clone());
        let id = match &file.id {
            Some(id) => id.parse()?,
            None => OperationId::new(act.now.0, (act.entropy)()),
        };
        let (world, catalog) = (self.world_of(&who), self.catalog().await?);
        let mut orders = Vec::new();
        for order in &file.calls {
            orders.push(self.with_endpoint(&who, order).await?);
        }
        let prepared = Box::pin(prepare_all(&world, &catalog, id.as_str(), &orders)).await?;
        for one in &prepared {
            self.authorise(&who, one).await?;
            if one.call.call_digest.is_empty() {
                return Err(not_ready(one));
            }
        }
        let new = NewPlan {
            id,
            objective: file.objective,
            notes: file.notes,
            calls: prepared.into_iter().map(|one| one.call).collect(),
            orders: file.calls,
        };
        let (plan, gates) = self.store().submit_plan(act, new).await?;
        Ok(entry(plan, gates))
    }

    /// One plan.
    pub async fn connector_plan(&self, who: Principal, id: OperationId) -> Result<view::PlanEntry> {
        let (plan, gates) = self.store().connector_plan(who, id).await?;
        Ok(entry(plan, gates))
    }

    /// Plans, newest first.
    pub async fn connector_plans(
        &self,
        who: Principal,
        query: query::Paging,
    ) -> Result<Page<view::PlanEntry>> {
        let page = self.store().list_connector_plans(who, query).await?;
        let items = page.items.into_iter().map(|(plan, gates)| entry(plan, gates)).collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    /// The owner decides about one gate; a dry run only says whether that could be.
    pub async fn decide_gate(
        &self,
        who: Principal,
        plan: OperationId,
        gate: GateId,
        request: request::DecideGate,
        dry_run: bool,
    ) -> Result<Gate> {
        use request::GateDecision as D;
        let only = |wanted: bool, name: &str| match wanted {
            true => Ok(()),
            false => {
                Err(Error::new(Code::MutuallyExclusive, format!("{name} does not go with this decision")))
            }
        };
        only(request.expires_seconds.is_none() || request.decision == D::Approve, "expires")?;
        only(request.reason.is_none() || request.decision == D::Deny, "reason")?;
        let decision = match request.decision {
            D::Approve => Decision::Approve { seconds: request.expires_seconds.unwrap_or(APPROVAL_SECONDS) },
            D::Deny => {
                let reason = request.reason.map(|reason| self.stored_text(&reason));
                Decision::Deny { reason }
            }
            D::Sent => Decision::Settle { sent: true },
            D::NotSent => Decision::Settle { sent: false },
        };
        self.store().decide_gate(self.act(who), plan, gate, request.call_digest, decision, dry_run).await
    }
}

fn not_ready(one: &Prepared) -> Error {
    let call = &one.call;
    Error::new(Code::NotReady, format!("{} is not ready: {}", call.connector_id, call.readiness))
        .with_detail("call", call.call_id.as_str())
        .with_detail("readiness", call.readiness.as_str())
}

/// A plan as it is shown.
pub(super) fn entry(plan: ConnectorPlan, gates: Vec<Gate>) -> view::PlanEntry {
    let count = |state: State| gates.iter().filter(|gate| gate.state == state).count();
    let projection = project(&plan.calls, count(State::Open), count(State::Approved));
    view::PlanEntry {
        schema_version: SCHEMA.to_owned(),
        plan,
        gates,
        projection,
        runs: Vec::new(),
        running: false,
    }
}
