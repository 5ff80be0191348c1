//! Turns of connectors and Agents.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::{HeaderMap, StatusCode};
use loom_api::routes as at;
use loom_domain::{Error, TurnId};
use serde::Deserialize;
use serde_json::Value;

use super::events::resume_after;
use super::{Answer, Routes, json, waited};
use crate::extract::{Change, Doc, Id, Name, Params, Wait};
use crate::sse::{self, TurnFeed};
use crate::{AgentOrOwner, App, Owner, OwnerOrViewer, Problem, Scope};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shown {
    journal: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Piece {
    pointer: String,
    offset: usize,
}

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::TURNS, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::TURNS, Scope::Whole, begin)
        .get(at::TURN, Scope::StatusRead, read)
        .get(at::TURN_EVENTS, Scope::StatusRead, events)
        .change(MethodFilter::DELETE, at::TURN, Scope::Whole, cancel)
        .change(MethodFilter::POST, at::TURN_RESUME, Scope::Whole, resume)
        .get(at::PAYLOAD_PIECE, Scope::InboxRead, payload)
}

async fn list(who: OwnerOrViewer, State(app): State<App>) -> Answer<Value> {
    json(app.desk().turns(who.0).await)
}

async fn begin(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Wait(wait): Wait,
    headers: HeaderMap,
    Doc(mut order): Doc<Value>,
) -> Result<Response, Problem> {
    if let Some(key) = headers.get(IDEMPOTENCY_KEY) {
        let key = key.to_str().map_err(|_| Error::invalid("Idempotency-Key", "expected text"))?;
        if order.get("turn_key").is_some_and(|own| own != key) {
            return Err(Error::invalid("Idempotency-Key", "it differs from turn_key").into());
        }
        if let Some(members) = order.as_object_mut() {
            members.insert("turn_key".to_owned(), key.into());
        }
    }
    let turn = app.desk().begin_turn(change.intent(who.0), order, wait).await?;
    Ok(answered(&turn))
}

async fn read(
    who: OwnerOrViewer,
    State(app): State<App>,
    Id(id): Id<TurnId>,
    Params(shown): Params<Shown>,
) -> Answer<Value> {
    json(app.desk().turn(who.0, id, shown.journal).await)
}

/// From the first row on, or behind the one that was read last.
async fn events(
    who: OwnerOrViewer,
    State(app): State<App>,
    Id(id): Id<TurnId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let place = resume_after(&headers)?.map_or(0, |last| last.saturating_add(1));
    sse::answer(&app, TurnFeed::open(&app, who.0, id, place).await?)
}

async fn cancel(who: Owner, State(app): State<App>, Id(id): Id<TurnId>) -> Answer<Value> {
    json(app.desk().cancel_turn(who.0, id).await)
}

async fn resume(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<TurnId>,
    Wait(wait): Wait,
) -> Result<Response, Problem> {
    Ok(answered(&app.desk().resume_turn(who.0, id, wait).await?))
}

async fn payload(
    who: AgentOrOwner,
    State(app): State<App>,
    Name(id): Name,
    Params(piece): Params<Piece>,
) -> Answer<Value> {
    json(app.desk().payload(who.0, id, piece.pointer, piece.offset).await)
}

/// 202 while it goes on.
fn answered(turn: &Value) -> Response {
    let goes_on = turn.get("state").is_some_and(|state| state == "running" || state == "starting");
    waited(if goes_on { StatusCode::ACCEPTED } else { StatusCode::OK }, turn)
}
