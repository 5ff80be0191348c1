//! Loops of several Agents.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::routes as at;
use loom_domain::OperationId;
use loom_hub::Report;
use serde::Deserialize;
use serde_json::Value;

use super::{Answer, Routes, json, waited};
use crate::extract::{Change, Doc, Id, Params, Wait};
use crate::{AgentOrOwner, App, Owner, OwnerOrViewer, Problem, Scope};

/// Time that what runs has to end, unless the caller says another.
const GRACE_MS: u64 = 30_000;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Stop {
    grace_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Log {
    since: u64,
    lane: Option<String>,
}

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::LOOPS, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::LOOPS, Scope::Whole, run)
        .say(at::LOOP_REPORT, Scope::MsgSend, report)
        .get(at::LOOP, Scope::StatusRead, read)
        .change(MethodFilter::DELETE, at::LOOP, Scope::Whole, stop)
        .change(MethodFilter::POST, at::LOOP_RESUME, Scope::Whole, resume)
        .get(at::LOOP_LOG, Scope::StatusRead, log)
}

async fn list(who: OwnerOrViewer, State(app): State<App>) -> Answer<Value> {
    json(app.desk().loops(who.0).await)
}

async fn run(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Wait(wait): Wait,
    Doc(file): Doc<Value>,
) -> Result<Response, Problem> {
    Ok(answered(&app.desk().run_loop(change.intent(who.0), file, wait).await?))
}

async fn report(
    who: AgentOrOwner,
    State(app): State<App>,
    Doc(report): Doc<Report>,
) -> Result<StatusCode, Problem> {
    app.desk().report_lane(who.0, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn read(
    who: OwnerOrViewer,
    State(app): State<App>,
    Id(id): Id<OperationId>,
    Wait(wait): Wait,
) -> Answer<Value> {
    json(app.desk().loop_run(who.0, id, wait).await)
}

async fn stop(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<OperationId>,
    Params(stop): Params<Stop>,
) -> Answer<Value> {
    let grace = Duration::from_millis(stop.grace_ms.unwrap_or(GRACE_MS));
    json(app.desk().stop_loop(who.0, id, grace).await)
}

async fn resume(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<OperationId>,
    change: Change,
) -> Result<Response, Problem> {
    Ok(answered(&app.desk().resume_loop(change.intent(who.0), id).await?))
}

async fn log(
    who: OwnerOrViewer,
    State(app): State<App>,
    Id(id): Id<OperationId>,
    Params(log): Params<Log>,
) -> Answer<Value> {
    json(app.desk().loop_log(who.0, id, log.since, log.lane).await)
}

/// 202 while it goes on.
fn answered(run: &Value) -> Response {
    let goes_on = run.get("state").is_some_and(|state| state == "running");
    waited(if goes_on { StatusCode::ACCEPTED } else { StatusCode::OK }, run)
}
