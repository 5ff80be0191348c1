//! Endpoints, deliveries to them, and what comes in.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::{HeaderMap, StatusCode};
use loom_api::{Page, query, request, routes as at, view};
use loom_domain::webhook::{Delivery, Endpoint};
use loom_hub::{Hook, Taken};
use loom_store::ops::webhooks::{HookEvent, HookRefusal};

use super::{Answer, Routes, json, waited};
use crate::extract::{Change, Doc, Name, Params};
use crate::{App, Owner, OwnerOrViewer, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::ENDPOINTS, Scope::StatusRead, endpoints)
        .change(MethodFilter::POST, at::ENDPOINTS, Scope::Whole, put)
        .get(at::ENDPOINT, Scope::StatusRead, endpoint)
        .change(MethodFilter::DELETE, at::ENDPOINT, Scope::Whole, remove)
        .change(MethodFilter::POST, at::ENDPOINT_ENABLE, Scope::Whole, enable)
        .change(MethodFilter::POST, at::ENDPOINT_DISABLE, Scope::Whole, disable)
        .get(at::ENDPOINT_EVENTS, Scope::StatusRead, events)
        .get(at::ENDPOINT_REFUSALS, Scope::StatusRead, refusals)
        .get(at::DELIVERIES, Scope::StatusRead, deliveries)
        .change(MethodFilter::POST, at::DELIVERIES, Scope::Whole, deliver)
        .hook(at::HOOK, receive)
}

async fn endpoints(who: OwnerOrViewer, State(app): State<App>) -> Answer<Page<Endpoint>> {
    json(app.desk().endpoints(who.0).await)
}

async fn put(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Doc(request): Doc<request::PutEndpoint>,
) -> Answer<Endpoint> {
    json(app.desk().put_endpoint(change.intent(who.0), request).await)
}

async fn endpoint(who: OwnerOrViewer, State(app): State<App>, Name(name): Name) -> Answer<Endpoint> {
    json(app.desk().endpoint(who.0, name).await)
}

async fn remove(who: Owner, State(app): State<App>, Name(name): Name, change: Change) -> Answer<Endpoint> {
    json(app.desk().remove_endpoint(change.intent(who.0), name).await)
}

async fn enable(who: Owner, State(app): State<App>, Name(name): Name, change: Change) -> Answer<Endpoint> {
    json(app.desk().switch_endpoint(change.intent(who.0), name, true).await)
}

async fn disable(who: Owner, State(app): State<App>, Name(name): Name, change: Change) -> Answer<Endpoint> {
    json(app.desk().switch_endpoint(change.intent(who.0), name, false).await)
}

async fn events(
    who: OwnerOrViewer,
    State(app): State<App>,
    Name(name): Name,
    Params(query): Params<query::Paging>,
) -> Answer<Page<HookEvent>> {
    json(app.desk().hook_events(who.0, name, query).await)
}

async fn refusals(
    who: OwnerOrViewer,
    State(app): State<App>,
    Name(name): Name,
    Params(query): Params<query::Paging>,
) -> Answer<Page<HookRefusal>> {
    json(app.desk().hook_refusals(who.0, name, query).await)
}

async fn deliveries(
    who: OwnerOrViewer,
    State(app): State<App>,
    Params(query): Params<query::Deliveries>,
) -> Answer<Page<Delivery>> {
    json(app.desk().deliveries(who.0, query).await)
}

async fn deliver(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Doc(request): Doc<request::Deliver>,
) -> Result<Response, Problem> {
    let entry = app.desk().add_delivery(change.intent(who.0), request).await?;
    Ok(waited(StatusCode::ACCEPTED, &entry))
}

/// 202 for what is new, 200 for what was known.
async fn receive(
    State(app): State<App>,
    Name(route): Name,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
    let hook = Hook { headers: headers.collect(), body };
    let (status, state) = match app.desk().receive_hook(route, hook).await? {
        Taken::Accepted => (StatusCode::ACCEPTED, "accepted"),
        Taken::Duplicate => (StatusCode::OK, "duplicate"),
    };
    Ok(waited(status, &view::HookAnswer { state: state.to_owned() }))
}
