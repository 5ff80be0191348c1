//! The Outbox.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::outbox::State as Delivery;
use loom_domain::{Error, OutboxId};

use super::{Answer, Routes, json, waited};
use crate::extract::{Change, Doc, Id, Params, Wait};
use crate::{AgentOrOwner, AnyReader, App, Owner, OwnerOrViewer, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::OUTBOX, Scope::InboxRead, list)
        .get(at::POLICY_RELEASES, Scope::StatusRead, releases)
        .get(at::OUTBOX_ITEM, Scope::InboxRead, read)
        .change(MethodFilter::POST, at::OUTBOX_RETRY, Scope::OutboxSend, retry)
        .change(MethodFilter::POST, at::OUTBOX_CANCEL, Scope::OutboxSend, cancel)
        .change(MethodFilter::POST, at::OUTBOX_SETTLE, Scope::Whole, settle)
}

/// 200 once the end is known or known to be unknown, 202 before.
pub(super) fn status_of(entry: &view::OutboxEntry) -> StatusCode {
    match entry.item.state {
        Delivery::Sent | Delivery::Failed | Delivery::Expired | Delivery::Cancelled | Delivery::Unknown => {
            StatusCode::OK
        }
        Delivery::Held | Delivery::Pending | Delivery::Sending | Delivery::RetryWait => StatusCode::ACCEPTED,
    }
}

/// The answer to a send.
pub(super) fn sent(result: Result<view::OutboxEntry, Error>) -> Result<Response, Problem> {
    let entry = result?;
    Ok(waited(status_of(&entry), &entry))
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Outbox>,
) -> Answer<Page<view::OutboxEntry>> {
    json(app.desk().outbox(who.0, query).await)
}

async fn releases(
    who: OwnerOrViewer,
    State(app): State<App>,
    Params(query): Params<query::Paging>,
) -> Answer<Page<view::OutboxEntry>> {
    json(app.desk().releases(who.0, query).await)
}

async fn read(
    who: AnyReader,
    State(app): State<App>,
    Id(id): Id<OutboxId>,
    Wait(wait): Wait,
) -> Answer<view::OutboxDetail> {
    json(app.desk().outbox_item(who.0, id, wait).await)
}

async fn retry(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<OutboxId>,
    change: Change,
    Doc(document): Doc<request::Retry>,
) -> Answer<Mutation<view::OutboxEntry>> {
    json(app.desk().retry_outbox(change.intent(who.0), id, document).await)
}

async fn cancel(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<OutboxId>,
    change: Change,
    Doc(document): Doc<request::Cancel>,
) -> Answer<Mutation<view::OutboxEntry>> {
    json(app.desk().cancel_outbox(change.intent(who.0), id, document).await)
}

async fn settle(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<OutboxId>,
    change: Change,
    Doc(document): Doc<request::Settle>,
) -> Answer<Mutation<view::OutboxEntry>> {
    json(app.desk().settle(change.intent(who.0), id, document).await)
}
