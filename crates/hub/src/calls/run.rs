//! Runs of calls. A run that was begun goes on when whoever asked for it has left.

use std::time::Duration;

use loom_api::{request, view};
use loom_capabilities::{CacheMode, NoObserver, Payload, Prepared, prepare};
use loom_domain::connector_plan::{CallOrder, PlanFile, PlannedCall};
use loom_domain::{Code, ConnectorPlan, Error, GateId, OperationId, Principal, Result};

use serde_json::Value;
use tokio::sync::oneshot;

use super::plans::entry;
use crate::hub::Hub;

/// Time that an answer waits when nobody says how long.
const WAIT: Duration = Duration::from_secs(25);
/// Largest payload that stands in an answer.
const PAYLOAD_BYTES_MAX: usize = 256 * 1024;

impl Hub {
    /// Runs a plan's calls: what is safe at once, what is gated only with its approval, and that once.
    pub async fn run_plan(
        &self,
        who: Principal,
        id: OperationId,
        request: request::RunPlan,
        wait: Duration,
    ) -> Result<view::PlanEntry> {
        self.takes_work()?;
        let entered = self.inner.runs.enter(&who)?;
        self.recover_gates().await?;
        let (plan, _) = self.store().connector_plan(who.clone(), id.clone()).await?;
        let chosen = chosen(&plan, request.call_id.as_deref())?;
        let (done, ended) = oneshot::channel();
        let hub = self.clone();
        self.inner.tasks.own(async move {
            let mut runs = Vec::new();
            for (call, order) in chosen {
                let Ok(_place) = entered.place().await else { return };
                runs.push(Box::pin(hub.run_call(&plan, &call, &order)).await);
            }
            // Whoever asked may have left.
            let _ = done.send(runs);
        });
        let runs = tokio::time::timeout(asked(wait), ended).await;
        let (plan, gates) = self.store().connector_plan(who, id).await?;
        let mut entry = entry(plan, gates);
        match runs {
            Err(_) => entry.running = true,
            Ok(Err(_)) => return Err(Error::new(Code::Cancelled, "the run was stopped")),
            Ok(Ok(runs)) => entry.runs = runs,
        }
        for run in &mut entry.runs {
            let gate = entry.gates.iter().find(|gate| gate.call_id == run.call_id);
            run.outcome = gate.and_then(|gate| gate.outcome).map(|outcome| outcome.to_string());
        }
        Ok(entry)
    }

    /// Runs one operation for a principal. A gated write opens its gate instead, and says so.
    pub async fn run_capability(
        &self,
        who: Principal,
        capability: String,
        request: request::CapabilityRun,
    ) -> Result<Value> {
        self.takes_work()?;
        let entered = self.inner.runs.enter(&who)?;
        let cache = cache_mode(&request);
        let request::CapabilityRun { operation, input, limits, .. } = request;
        let order = CallOrder { connector: capability, operation, input, limits, ..CallOrder::default() };
        let prepared = Box::pin(self.prepared(&who, "op_", "call-1", &order)).await?;
        if prepared.call.gated {
            return Err(Box::pin(self.gate_for(who, order)).await?);
        }
        let (done, ended) = oneshot::channel();
        let (hub, asker) = (self.clone(), who);
        self.inner.tasks.own(async move {
            let Ok(_place) = entered.place().await else { return };
            let mut world = hub.world_of(&asker);
            world.cache = cache;
            let (request, mut observer) = (prepared.request(None), NoObserver);
            let run = loom_capabilities::run(&world, &*prepared.capability, request, None, &mut observer);
            let _ = done.send(Box::pin(run).await);
        });
        let payload = ended.await.map_err(|_| Error::new(Code::Cancelled, "the run was stopped"))??;
        serde_json::to_value(&payload).map_err(Error::internal)
    }

    /// Submits a plan of one write, and gives the refusal that names its gate.
    async fn gate_for(&self, who: Principal, order: CallOrder) -> Result<Error> {
        let entry = self.submit_plan(who, PlanFile::of(order)).await?;
        let gate = entry.gates.first().ok_or_else(|| Error::internal("a write without a gate"))?;
        Ok(Error::new(Code::ApprovalRequired, "a gate was opened for this write")
            .with_detail("plan_id", entry.plan.id.as_str())
            .with_detail("gate_id", gate.id.as_str())
            .with_detail("call_digest", gate.call_digest.as_str()))
    }

    /// A call of a principal that its grants let pass.
    async fn prepared(&self, who: &Principal, plan: &str, name: &str, order: &CallOrder) -> Result<Prepared> {
        let (world, catalog) = (self.world_of(who), self.catalog().await?);
        let order = self.with_endpoint(who, order).await?;
        let prepared = prepare(&world, &catalog, plan, name, &order).await?;
        self.authorise(who, &prepared).await?;
        Ok(prepared)
    }

    /// Runs one call as whoever made the plan; the owner's right to run it is not the maker's right to do it.
    async fn run_call(&self, plan: &ConnectorPlan, call: &PlannedCall, order: &CallOrder) -> view::CallRun {
        let maker = plan.agent_id.clone().map_or(Principal::Owner, Principal::Agent);
        let gate = call.gate.as_ref().map(GateId::as_str);
        let outcome = async {
            let prepared = self.prepared(&maker, plan.id.as_str(), &call.call_id, order).await?;
            let (world, request) = (self.world_of(&maker), prepared.request(gate));
            loom_capabilities::run(&world, &*prepared.capability, request, None, &mut NoObserver).await
        };
        match Box::pin(outcome).await {
            Ok(payload) => ran(&call.call_id, &payload),
            Err(error) => view::CallRun {
                call_id: call.call_id.clone(),
                ok: false,
                outcome: None,
                error: Some(error),
                payload_id: None,
                payload: Value::Null,
            },
        }
    }
}

/// How long an answer waits.
/// How stored answers are used.
fn cache_mode(request: &request::CapabilityRun) -> CacheMode {
    match (request.refresh, request.no_cache) {
        (true, _) => CacheMode::Refresh,
        (false, true) => CacheMode::NoCache,
        (false, false) => CacheMode::Use,
    }
}

fn asked(wait: Duration) -> Duration {
    if wait.is_zero() { WAIT } else { wait }
}

fn ran(call_id: &str, payload: &Payload) -> view::CallRun {
    let document = serde_json::to_string(payload).unwrap_or_default();
    let fits = document.len() <= PAYLOAD_BYTES_MAX;
    view::CallRun {
        call_id: call_id.to_owned(),
        ok: payload.ok,
        outcome: None,
        error: payload.error.clone(),
        payload_id: Some(payload.payload_id.clone()).filter(|id| !id.is_empty()),
        payload: if fits { serde_json::from_str(&document).unwrap_or_default() } else { Value::Null },
    }
}

fn chosen(plan: &ConnectorPlan, call_id: Option<&str>) -> Result<Vec<(PlannedCall, CallOrder)>> {
    let calls = plan.calls.iter().cloned().zip(plan.orders.iter().cloned());
    let chosen: Vec<_> = calls.filter(|(call, _)| call_id.is_none_or(|id| id == call.call_id)).collect();
    match (chosen.is_empty(), call_id) {
        (true, Some(id)) => Err(Error::new(Code::NotFound, format!("{} has no call {id}", plan.id))),
        _ => Ok(chosen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_that_was_asked_for_is_kept() {
        let seconds = |wait: u64| asked(Duration::from_secs(wait)).as_secs();
        assert_eq!((seconds(0), seconds(2), seconds(60)), (WAIT.as_secs(), 2, 60));
    }
}
