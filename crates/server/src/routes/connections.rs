//! Connections and the tokens of their connectors.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::{Connection, ConnectionId, TokenId};

use super::{Answer, Routes, created, json, waited};
use crate::extract::{Change, Doc, Id, Params, SecondId};
use crate::{AnyReader, App, Owner, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::CONNECTIONS, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::CONNECTIONS, Scope::Whole, connect)
        .get(at::CONNECTION, Scope::StatusRead, read)
        .change(MethodFilter::PATCH, at::CONNECTION, Scope::Whole, update)
        .get(at::CONNECTION_HEALTH, Scope::StatusRead, health)
        .change(MethodFilter::POST, at::CONNECTION_PROBE, Scope::Whole, probe)
        .change(MethodFilter::POST, at::CONNECTION_ENABLE, Scope::Whole, enable)
        .change(MethodFilter::POST, at::CONNECTION_DISABLE, Scope::Whole, disable)
        .change(MethodFilter::POST, at::CONNECTION_TOKENS, Scope::Whole, issue_token)
        .change(MethodFilter::DELETE, at::CONNECTION_TOKEN, Scope::Whole, revoke_token)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Connections>,
) -> Answer<Page<view::ConnectionEntry>> {
    json(app.desk().connections(who.0, query).await)
}

async fn connect(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Doc(new): Doc<request::Connect>,
) -> Result<Response, Problem> {
    created(app.desk().connect(change.intent(who.0), new).await)
}

async fn read(
    who: AnyReader,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
) -> Answer<view::ConnectionEntry> {
    json(app.desk().connection(who.0, id).await)
}

async fn update(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
    change: Change,
    Doc(mut document): Doc<request::UpdateConnection>,
) -> Answer<Mutation<Connection>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().update_connection(change.intent(who.0), id, document).await)
}

async fn health(who: AnyReader, State(app): State<App>, Id(id): Id<ConnectionId>) -> Answer<view::Health> {
    json(app.desk().connection_health(who.0, id).await)
}

async fn probe(who: Owner, State(app): State<App>, Id(id): Id<ConnectionId>) -> Answer<view::ProbeResult> {
    json(app.desk().probe_connection(who.0, id).await)
}

async fn enable(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Connection>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().enable_connection(change.intent(who.0), id, document).await)
}

async fn disable(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Connection>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().disable_connection(change.intent(who.0), id, document).await)
}

async fn issue_token(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
    Doc(request): Doc<request::IssueToken>,
) -> Result<Response, Problem> {
    let token = app.desk().issue_token(who.0, id, request).await?;
    Ok(waited(StatusCode::CREATED, &token))
}

async fn revoke_token(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<ConnectionId>,
    SecondId(token): SecondId<TokenId>,
) -> Result<Response, Problem> {
    app.desk().revoke_token(who.0, id, token).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
