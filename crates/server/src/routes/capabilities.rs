//! Plans of connector calls, their gates, grants, and runs.

use axum::extract::State;
use axum::routing::MethodFilter;
use loom_api::{Page, query, request, routes as at, view};
use loom_domain::connector_plan::PlanFile;
use loom_domain::{Gate, GateId, Grant, GrantId, OperationId};
use serde_json::Value;

use super::{Answer, Routes, json};
use crate::extract::{Change, Doc, Id, Name, Params, SecondId, Wait};
use crate::{AgentOrOwner, AnyReader, App, Owner, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::PLANS, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::PLANS, Scope::ConnectorsRun, submit)
        .get(at::PLAN, Scope::StatusRead, read)
        .change(MethodFilter::POST, at::PLAN_RUN, Scope::ConnectorsRun, run)
        .change(MethodFilter::POST, at::PLAN_GATE, Scope::Whole, decide)
        .get(at::GRANTS, Scope::StatusRead, grants)
        .change(MethodFilter::POST, at::GRANTS, Scope::Whole, grant)
        .change(MethodFilter::POST, at::GRANT_REVOKE, Scope::Whole, revoke)
        .change(MethodFilter::POST, at::CAPABILITY_RUN, Scope::ConnectorsRun, run_capability)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Paging>,
) -> Answer<Page<view::PlanEntry>> {
    json(app.desk().connector_plans(who.0, query).await)
}

async fn submit(
    who: AgentOrOwner,
    State(app): State<App>,
    change: Change,
    Doc(file): Doc<PlanFile>,
) -> Answer<view::PlanEntry> {
    json(app.desk().submit_plan(change.intent(who.0), file).await)
}

async fn read(who: AnyReader, State(app): State<App>, Id(id): Id<OperationId>) -> Answer<view::PlanEntry> {
    json(app.desk().connector_plan(who.0, id).await)
}

async fn run(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<OperationId>,
    change: Change,
    Wait(wait): Wait,
    Doc(request): Doc<request::RunPlan>,
) -> Answer<view::PlanEntry> {
    json(app.desk().run_plan(change.intent(who.0), id, request, wait).await)
}

async fn decide(
    who: Owner,
    State(app): State<App>,
    Id(plan): Id<OperationId>,
    SecondId(gate): SecondId<GateId>,
    change: Change,
    Doc(request): Doc<request::DecideGate>,
) -> Answer<Gate> {
    json(app.desk().decide_gate(change.intent(who.0), plan, gate, request).await)
}

async fn grants(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Grants>,
) -> Answer<Page<Grant>> {
    json(app.desk().grants(who.0, query).await)
}

async fn grant(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Doc(request): Doc<request::GiveGrant>,
) -> Answer<Grant> {
    json(app.desk().give_grant(change.intent(who.0), request).await)
}

async fn revoke(who: Owner, State(app): State<App>, Id(id): Id<GrantId>, change: Change) -> Answer<Grant> {
    json(app.desk().revoke_grant(change.intent(who.0), id).await)
}

async fn run_capability(
    who: AgentOrOwner,
    State(app): State<App>,
    Name(id): Name,
    change: Change,
    Doc(request): Doc<request::CapabilityRun>,
) -> Answer<Value> {
    json(app.desk().run_capability(change.intent(who.0), id, request).await)
}
