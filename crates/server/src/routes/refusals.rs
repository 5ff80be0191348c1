//! Refused Events.

use axum::extract::State;
use axum::routing::MethodFilter;
use loom_api::{Page, query, routes as at, view};
use loom_domain::{Event, EventId};

use super::{Answer, Routes, json};
use crate::extract::{Id, Params};
use crate::{AnyReader, App, Owner, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::REFUSALS, Scope::StatusRead, list)
        .get(at::REFUSAL_COUNTS, Scope::StatusRead, counts)
        .get(at::REFUSAL, Scope::StatusRead, read)
        .change(MethodFilter::POST, at::REFUSAL_REPLAY, Scope::Whole, replay)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Refusals>,
) -> Answer<Page<Event>> {
    json(app.desk().refusals(who.0, query).await)
}

async fn counts(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Refusals>,
) -> Answer<Page<view::ReasonCount>> {
    json(app.desk().refusal_counts(who.0, query).await)
}

async fn read(who: AnyReader, State(app): State<App>, Id(id): Id<EventId>) -> Answer<view::RefusalDetail> {
    json(app.desk().refusal(who.0, id).await)
}

async fn replay(who: Owner, State(app): State<App>, Id(id): Id<EventId>) -> Answer<view::ReplayedEvent> {
    json(app.desk().replay_refusal(who.0, id).await)
}
