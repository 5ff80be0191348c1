//! Agents and their Threads.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::{HeaderMap, StatusCode};
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::Agent;

use super::events::{self, confined};
use super::{Answer, Routes, created, json, waited};
use crate::extract::{Change, Doc, Name, Params, Wait};
use crate::{AnyReader, App, Owner, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::AGENTS, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::AGENTS, Scope::Whole, create)
        .get(at::AGENT, Scope::StatusRead, read)
        .change(MethodFilter::PATCH, at::AGENT, Scope::Whole, update)
        .change(MethodFilter::POST, at::AGENT_PAUSE, Scope::Whole, pause)
        .change(MethodFilter::POST, at::AGENT_RESUME, Scope::Whole, resume)
        .change(MethodFilter::POST, at::AGENT_ARCHIVE, Scope::Whole, archive)
        .change(MethodFilter::POST, at::AGENT_RESTORE, Scope::Whole, restore)
        .get(at::THREAD, Scope::InboxRead, thread)
        .get(at::THREAD_EVENTS, Scope::InboxRead, thread_events)
        .say(at::THREAD_INPUT, Scope::Whole, thread_input)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Agents>,
) -> Answer<Page<view::AgentEntry>> {
    json(app.desk().agents(who.0, query).await)
}

async fn read(who: AnyReader, State(app): State<App>, Name(agent): Name) -> Answer<view::AgentDetail> {
    json(app.desk().agent(who.0, agent).await)
}

async fn create(
    who: Owner,
    State(app): State<App>,
    change: Change,
    Doc(new): Doc<request::CreateAgent>,
) -> Result<Response, Problem> {
    created(app.desk().create_agent(change.intent(who.0), new).await)
}

async fn update(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(mut document): Doc<request::UpdateAgent>,
) -> Answer<Mutation<Agent>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().update_agent(change.intent(who.0), agent, document).await)
}

async fn pause(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Agent>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().pause_agent(change.intent(who.0), agent, document).await)
}

async fn resume(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Agent>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().resume_agent(change.intent(who.0), agent, document).await)
}

async fn archive(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(mut document): Doc<request::ArchiveAgent>,
) -> Answer<Mutation<Agent>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().archive_agent(change.intent(who.0), agent, document).await)
}

async fn restore(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Agent>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().restore_agent(change.intent(who.0), agent, document).await)
}

async fn thread(
    who: AnyReader,
    State(app): State<App>,
    Name(agent): Name,
    Params(query): Params<query::Paging>,
) -> Answer<Page<view::TurnEntry>> {
    json(app.desk().thread(who.0, agent, query).await)
}

async fn thread_events(
    who: AnyReader,
    State(app): State<App>,
    Name(agent): Name,
    headers: HeaderMap,
    Params(mut query): Params<query::Events>,
) -> Result<Response, Problem> {
    let agent = confined(&who, Some(events::agent_of(&app, agent).await?))?;
    query.types.get_or_insert_with(|| "turn.changed,thread.output".to_owned());
    events::stream(&app, agent, &headers, &query)
}

async fn thread_input(
    who: Owner,
    State(app): State<App>,
    Name(agent): Name,
    Wait(wait): Wait,
    Doc(input): Doc<request::ThreadInput>,
) -> Result<Response, Problem> {
    let result = app.desk().thread_input(who.0, agent, input, wait).await?;
    let status = if result.state.is_final() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(waited(status, &result))
}
