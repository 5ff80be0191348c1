//! Addresses and the Candidates seen under them.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::{Address, AddressId};

use super::{Answer, Routes, created, json, waited};
use crate::extract::{Change, Doc, Id, Name, Params};
use crate::{AnyReader, App, Owner, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .change(MethodFilter::POST, at::AGENT_ADDRESSES, Scope::Whole, bind)
        .get(at::ADDRESSES, Scope::StatusRead, list)
        .get(at::ADDRESS, Scope::StatusRead, read)
        .change(MethodFilter::PATCH, at::ADDRESS, Scope::Whole, update)
        .get(at::CANDIDATES, Scope::StatusRead, candidates)
        .change(MethodFilter::POST, at::CANDIDATES_REFRESH, Scope::Whole, refresh)
}

async fn bind(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(new): Doc<request::Bind>,
) -> Result<Response, Problem> {
    created(app.desk().bind(change.intent(who.0), agent, new).await)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Addresses>,
) -> Answer<Page<Address>> {
    json(app.desk().addresses(who.0, query).await)
}

async fn read(who: AnyReader, State(app): State<App>, Id(id): Id<AddressId>) -> Answer<Address> {
    json(app.desk().address(who.0, id).await)
}

async fn update(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<AddressId>,
    change: Change,
    Doc(mut document): Doc<request::UpdateAddress>,
) -> Answer<Mutation<Address>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().update_address(change.intent(who.0), id, document).await)
}

async fn candidates(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Candidates>,
) -> Answer<Page<view::CandidateEntry>> {
    json(app.desk().candidates(who.0, query).await)
}

async fn refresh(who: Owner, State(app): State<App>, Id(id): Id<AddressId>) -> Result<Response, Problem> {
    Ok(waited(StatusCode::ACCEPTED, &app.desk().refresh_candidates(who.0, id).await?))
}
