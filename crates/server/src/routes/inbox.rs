//! The Inbox.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::inbox::Item;
use loom_domain::{ArtifactId, InboxId};

use super::{Answer, Routes, json, outbox};
use crate::extract::{Change, Doc, Id, Name, Params, SecondId, Wait};
use crate::{AgentOrOwner, AnyReader, App, Owner, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::INBOX, Scope::InboxRead, list)
        .get(at::INBOX_ITEM, Scope::InboxRead, read)
        .say(at::INBOX_REPLY, Scope::InboxAct, reply)
        .change(MethodFilter::POST, at::INBOX_NO_REPLY, Scope::InboxAct, no_reply)
        .change(MethodFilter::POST, at::INBOX_DEFER, Scope::InboxAct, defer)
        .change(MethodFilter::POST, at::INBOX_RETRY, Scope::InboxAct, retry)
        .change(MethodFilter::POST, at::INBOX_CANCEL, Scope::Whole, cancel)
        .change(MethodFilter::POST, at::INBOX_RELEASE, Scope::Whole, release)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Inbox>,
) -> Answer<Page<view::InboxEntry>> {
    json(app.desk().inbox(who.0, query).await)
}

async fn read(who: AnyReader, State(app): State<App>, Name(id): Name) -> Answer<view::InboxDetail> {
    json(app.desk().inbox_item(who.0, id).await)
}

async fn reply(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    Wait(wait): Wait,
    Doc(reply): Doc<request::Reply>,
) -> Result<Response, Problem> {
    outbox::sent(app.desk().reply(who.0, id, reply, wait).await)
}

async fn no_reply(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    change: Change,
    Doc(document): Doc<request::NoReply>,
) -> Answer<Mutation<Item>> {
    json(app.desk().no_reply(change.intent(who.0), id, document).await)
}

async fn defer(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    change: Change,
    Doc(document): Doc<request::Defer>,
) -> Answer<Mutation<Item>> {
    json(app.desk().defer(change.intent(who.0), id, document).await)
}

async fn retry(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    change: Change,
    Doc(document): Doc<request::Retry>,
) -> Answer<Mutation<Item>> {
    json(app.desk().retry_inbox(change.intent(who.0), id, document).await)
}

async fn cancel(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    change: Change,
    Doc(document): Doc<request::Cancel>,
) -> Answer<Mutation<Item>> {
    json(app.desk().cancel_inbox(change.intent(who.0), id, document).await)
}

async fn release(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<InboxId>,
    SecondId(artifact): SecondId<ArtifactId>,
    change: Change,
) -> Answer<Mutation<Item>> {
    json(app.desk().release_attachment(change.intent(who.0), id, artifact).await)
}
