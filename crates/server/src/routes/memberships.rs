//! Memberships.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::{Mutation, Page, query, request, routes as at};
use loom_domain::{AddressId, Membership, MembershipId};

use super::{Answer, Routes, created, json, outbox, waited};
use crate::desk::TestEnd;
use crate::extract::{Change, Doc, Id, Params, SecondName, Wait};
use crate::{AnyReader, App, Owner, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::MEMBERSHIPS, Scope::StatusRead, list)
        .get(at::MEMBERSHIP, Scope::StatusRead, read)
        .change(MethodFilter::PATCH, at::MEMBERSHIP, Scope::Whole, set)
        .change(MethodFilter::PUT, at::CONVERSATION, Scope::Whole, set_conversation)
        .change(MethodFilter::POST, at::MEMBERSHIP_ENABLE, Scope::Whole, enable)
        .change(MethodFilter::POST, at::MEMBERSHIP_DISABLE, Scope::Whole, disable)
        .change(MethodFilter::POST, at::MEMBERSHIP_ARCHIVE, Scope::Whole, archive)
        .change(MethodFilter::POST, at::MEMBERSHIP_TEST, Scope::Whole, test)
}

async fn list(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Memberships>,
) -> Answer<Page<Membership>> {
    json(app.desk().memberships(who.0, query).await)
}

async fn read(who: AnyReader, State(app): State<App>, Id(id): Id<MembershipId>) -> Answer<Membership> {
    json(app.desk().membership(who.0, id).await)
}

async fn set(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<MembershipId>,
    change: Change,
    Doc(mut document): Doc<request::SetMembership>,
) -> Answer<Mutation<Membership>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().set_membership(change.intent(who.0), id, document).await)
}

async fn set_conversation(
    who: Owner,
    State(app): State<App>,
    Id(address): Id<AddressId>,
    SecondName(conversation): SecondName,
    change: Change,
    Doc(mut document): Doc<request::SetMembership>,
) -> Result<Response, Problem> {
    document.expected_version = change.version(document.expected_version)?;
    created(app.desk().set_conversation(change.intent(who.0), address, conversation, document).await)
}

async fn enable(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<MembershipId>,
    change: Change,
    Doc(mut document): Doc<request::EnableMembership>,
) -> Answer<Mutation<Membership>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().enable_membership(change.intent(who.0), id, document).await)
}

async fn disable(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<MembershipId>,
    change: Change,
    Doc(mut document): Doc<request::Versioned>,
) -> Answer<Mutation<Membership>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().disable_membership(change.intent(who.0), id, document).await)
}

async fn archive(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<MembershipId>,
    change: Change,
    Doc(mut document): Doc<request::Confirm>,
) -> Answer<Mutation<Membership>> {
    document.expected_version = change.version(document.expected_version)?;
    json(app.desk().archive_membership(change.intent(who.0), id, document).await)
}

async fn test(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<MembershipId>,
    Wait(wait): Wait,
    Doc(test): Doc<request::TestMembership>,
) -> Result<Response, Problem> {
    let wait = wait.max(Duration::from_secs(test.timeout_seconds.unwrap_or(0)));
    let end = app.desk().test_membership(who.0, id, test, wait).await?;
    let status = match &end {
        TestEnd::Outbound(entry) => outbox::status_of(entry),
        TestEnd::Inbound(_) => StatusCode::OK,
    };
    Ok(waited(status, &end))
}
