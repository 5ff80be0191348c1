//! Plans of connector calls and their gates. An approval is made here and nowhere else.

mod attempt;
mod decide;
mod sweep;

use loom_api::{Page, query};
use loom_domain::{
    Code, ConnectorPlan, Error, Gate, GateId, OperationId, Principal, Result,
    connector_plan::{CALLS_MAX, CallOrder, PlannedCall},
    gate::{OPEN_MS, State},
};
use serde_json::json;

use super::lookup::{self, Filter};
use super::notices::{Tell, tell};
use crate::{
    Act, Audit, Store, Topic, Unit,
    docs::{self, Doc},
    page::PageQuery,
    params,
    tx::{Tx, Value},
};

pub use decide::Decision;

/// Bytes of a stored plan.
const PLAN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Gates of one Agent that wait at once.
const GATES_WAITING_MAX: i64 = 100;
/// Plans of one Agent in a day.
const PLANS_PER_DAY_MAX: i64 = 1_000;
/// Bytes of them in a day.
const PLAN_BYTES_PER_DAY_MAX: i64 = 16 * 1024 * 1024;
const DAY_MS: i64 = 24 * 3_600_000;

impl Doc for ConnectorPlan {
    const TABLE: &'static str = "connector_plans";
    const KIND: &'static str = "connector plan";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("agent_id", Value::from(self.agent_id.as_ref().map_or("", |id| id.as_str()))),
            ("created_at", self.created_at.into()),
        ]
    }
}

impl Doc for Gate {
    const TABLE: &'static str = "gates";
    const KIND: &'static str = "gate";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("plan_id", self.plan_id.as_str().into()),
            ("call_id", self.call_id.as_str().into()),
            ("state", self.state.as_str().into()),
            ("outcome", Value::from(self.outcome.map_or("", loom_domain::gate::Outcome::as_str))),
            ("node", self.node.as_str().into()),
            ("waits", matches!(self.state, State::Open | State::Approved).into()),
            ("expires_at", self.expires_at.into()),
        ]
    }
}

/// A plan to be stored; its gates are opened with it.
#[derive(Debug, Clone)]
pub struct NewPlan {
    /// Id that the calls' digests were made with.
    pub id: OperationId,
    /// What it is for.
    pub objective: Option<String>,
    /// Remarks.
    pub notes: std::collections::BTreeMap<String, String>,
    /// Calls as they would be made.
    pub calls: Vec<PlannedCall>,
    /// Calls as they were asked for.
    pub orders: Vec<CallOrder>,
}

impl Store {
    /// Stores a plan and opens a gate for each call that needs one. The same id twice is `already_exists`.
    pub async fn submit_plan(&self, act: Act, new: NewPlan) -> Result<(ConnectorPlan, Vec<Gate>)> {
        if new.calls.is_empty() || new.calls.len() > CALLS_MAX || new.calls.len() != new.orders.len() {
            return Err(Error::new(Code::InvalidInput, format!("a plan has 1 to {CALLS_MAX} calls"))
                .with_detail("pointer", "/calls"));
        }
        self.write(act, move |unit| submit(unit, &new)).await
    }

    /// A plan with its gates; an Agent sees its own only.
    pub async fn connector_plan(
        &self,
        who: Principal,
        id: OperationId,
    ) -> Result<(ConnectorPlan, Vec<Gate>)> {
        self.read(move |tx| {
            let plan: ConnectorPlan = docs::require(tx, id.as_str())?;
            visible(&who, &plan)?;
            let gates = gates_of(tx, &plan.id)?;
            Ok((plan, gates))
        })
        .await
    }

    /// A page of plans with their gates, newest first; an Agent's list holds its own only.
    pub async fn list_connector_plans(
        &self,
        who: Principal,
        query: query::Paging,
    ) -> Result<Page<(ConnectorPlan, Vec<Gate>)>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            if let Principal::Agent(own) = &who {
                filter.eq("agent_id", Some(own.as_str()));
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |plan: &ConnectorPlan| plan.seq)?;
            lookup::map_page(page, |plan| {
                let gates = gates_of(tx, &plan.id)?;
                Ok((plan, gates))
            })
        })
        .await
    }
}

fn submit(unit: &mut Unit<'_>, new: &NewPlan) -> Result<(ConnectorPlan, Vec<Gate>)> {
    let agent_id = match &unit.principal {
        Principal::Agent(id) => Some(id.clone()),
        Principal::Owner => None,
        _ => return Err(Error::new(Code::Forbidden, "only the owner or an Agent makes plans")),
    };
    if docs::get::<ConnectorPlan>(unit.tx, new.id.as_str())?.is_some() {
        return Err(Error::new(Code::AlreadyExists, format!("a plan {} exists", new.id)));
    }
    if let Some(agent) = &agent_id {
        let gated = new.calls.iter().filter(|call| call.gated).count();
        within_limits(unit, agent, i64::try_from(gated).unwrap_or(i64::MAX))?;
    }
    let mut plan = ConnectorPlan {
        id: new.id.clone(),
        seq: unit.seq()?,
        agent_id,
        objective: new.objective.clone(),
        notes: new.notes.clone(),
        calls: new.calls.clone(),
        orders: new.orders.clone(),
        created_at: unit.now,
    };
    let mut gates = Vec::new();
    for call in plan.calls.iter_mut().filter(|call| call.gated) {
        let gate = open(unit, &plan.id, plan.agent_id.as_ref(), call)?;
        call.gate = Some(gate.id.clone());
        gates.push(gate);
    }
    let bytes = crate::tx::to_doc(&plan)?.len();
    if bytes > PLAN_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, "the plan is over 4 MiB"));
    }
    if let Some(agent) = &plan.agent_id {
        bytes_fit(unit, agent, i64::try_from(bytes).unwrap_or(i64::MAX))?;
    }
    docs::insert(unit.tx, &plan)?;
    unit.audit(&Audit {
        action: "plan.submit",
        object: plan.id.as_str(),
        versions: (None, Some(1)),
        outcome: "ok",
        detail: json!({"calls": plan.calls.len(), "gates": gates.iter().map(|gate| &gate.id).collect::<Vec<_>>()}),
    })?;
    if let (Some(agent), [first, ..]) = (&plan.agent_id, gates.as_slice()) {
        tell(
            unit,
            Tell {
                kind: "gate_open",
                object: plan.id.as_str(),
                text: format!("{agent} asks for your approval of {} external writes", gates.len()),
                hint: format!("loom value-connectors show {}", first.plan_id),
            },
        )?;
    }
    Ok((plan, gates))
}

/// An Agent that nobody answers does not get to fill the store.
fn within_limits(unit: &mut Unit<'_>, agent: &loom_domain::AgentId, gated: i64) -> Result<()> {
    let waiting = "SELECT COUNT(*) FROM gates g JOIN connector_plans p ON p.id = g.plan_id WHERE g.waits = 1 AND p.agent_id = ?1";
    let today = "SELECT COUNT(*) FROM connector_plans WHERE agent_id = ?1 AND created_at > ?2";
    let waiting = unit.tx.number(waiting, &params![agent.as_str()])?;
    let today = unit.tx.number(today, &params![agent.as_str(), unit.now.plus_ms(-DAY_MS)])?;
    match waiting.saturating_add(gated) > GATES_WAITING_MAX || today >= PLANS_PER_DAY_MAX {
        true => Err(Error::new(
            Code::TooMany,
            format!(
                "over {GATES_WAITING_MAX} gates would wait ({waiting} do), or {PLANS_PER_DAY_MAX} plans were made today"
            ),
        )),
        false => Ok(()),
    }
}

/// Few plans can hold much.
fn bytes_fit(unit: &mut Unit<'_>, agent: &loom_domain::AgentId, bytes: i64) -> Result<()> {
    let today = "SELECT COALESCE(SUM(OCTET_LENGTH(doc)), 0) FROM connector_plans WHERE agent_id = ?1 AND created_at > ?2";
    let today = unit.tx.number(today, &params![agent.as_str(), unit.now.plus_ms(-DAY_MS)])?;
    if today.saturating_add(bytes) <= PLAN_BYTES_PER_DAY_MAX {
        return Ok(());
    }
    Err(Error::new(
        Code::TooMany,
        format!("the plans of a day have at most {PLAN_BYTES_PER_DAY_MAX} bytes ({today} are taken)"),
    )
    .with_hint("send less with each call, or wait until tomorrow"))
}

fn open(
    unit: &mut Unit<'_>,
    plan: &OperationId,
    agent: Option<&loom_domain::AgentId>,
    call: &PlannedCall,
) -> Result<Gate> {
    let gate = Gate {
        id: GateId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        plan_id: plan.clone(),
        call_id: call.call_id.clone(),
        agent_id: agent.cloned(),
        call_digest: call.call_digest.clone(),
        state: State::Open,
        opened_at: unit.now,
        expires_at: unit.now.plus_ms(OPEN_MS),
        decided_at: None,
        reason: None,
        outcome: None,
        outcome_code: None,
        run_id: None,
        attempted_at: None,
        node: String::new(),
        settled_by_owner: false,
        version: 1,
    };
    docs::insert(unit.tx, &gate)?;
    changed(unit, &gate, "gate.opened", &[])?;
    Ok(gate)
}

/// Tells of a change of a gate.
fn changed(unit: &mut Unit<'_>, gate: &Gate, event: &'static str, fields: &[&str]) -> Result<()> {
    let agent = gate.agent_id.as_ref().map(loom_domain::AgentId::as_str);
    unit.change(event, gate.id.as_str(), agent, gate.version, fields)?;
    unit.wake(Topic::Feed);
    Ok(())
}

/// Writes a changed gate back with its event and its audit row.
fn record(unit: &mut Unit<'_>, gate: &mut Gate, event: &'static str, outcome: &str) -> Result<()> {
    let before = gate.version;
    gate.version += 1;
    docs::update(unit.tx, gate)?;
    changed(unit, gate, event, &["state"])?;
    unit.audit(&Audit {
        action: event,
        object: gate.id.as_str(),
        versions: (Some(before), Some(gate.version)),
        outcome,
        detail: json!({"plan": gate.plan_id, "call": gate.call_id, "call_digest": gate.call_digest,
            "state": gate.state, "outcome": gate.outcome, "run": gate.run_id}),
    })
}

fn visible(who: &Principal, plan: &ConnectorPlan) -> Result<()> {
    match who {
        Principal::Owner | Principal::Viewer | Principal::Hub => Ok(()),
        Principal::Agent(own) if plan.agent_id.as_ref() == Some(own) => Ok(()),
        _ => Err(Error::not_found("connector plan", plan.id.as_str())),
    }
}

fn gates_of(tx: &mut dyn Tx, plan: &OperationId) -> Result<Vec<Gate>> {
    docs::select(tx, "plan_id = ?1 ORDER BY seq", &params![plan.as_str()])
}
