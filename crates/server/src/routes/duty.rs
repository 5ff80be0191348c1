//! The owner's desk: Notices and audit.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use http::StatusCode;
use loom_api::{Mutation, Page, query, request, routes as at, view};
use loom_domain::{Notice, NoticeId};

use super::{Answer, Routes, json, waited};
use crate::extract::{Change, Doc, Id, Params};
use crate::{App, Owner, OwnerOrViewer, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::NOTICES, Scope::StatusRead, notices)
        .change(MethodFilter::POST, at::NOTICE_ACK, Scope::Whole, ack)
        .get(at::AUDIT, Scope::StatusRead, audit)
        .change(MethodFilter::POST, at::HUB_STOP, Scope::Whole, stop)
        .get(at::AUDIT_VERIFY, Scope::StatusRead, verify)
}

async fn notices(
    who: OwnerOrViewer,
    State(app): State<App>,
    Params(query): Params<query::Notices>,
) -> Answer<Page<Notice>> {
    json(app.desk().notices(who.0, query).await)
}

async fn ack(
    who: Owner,
    State(app): State<App>,
    Id(id): Id<NoticeId>,
    change: Change,
) -> Answer<Mutation<Notice>> {
    json(app.desk().ack_notice(change.intent(who.0), id).await)
}

async fn audit(
    who: OwnerOrViewer,
    State(app): State<App>,
    Params(query): Params<query::Audit>,
) -> Answer<Page<view::AuditRow>> {
    json(app.desk().audit(who.0, query).await)
}

async fn stop(
    who: Owner,
    State(app): State<App>,
    Doc(request): Doc<request::Stop>,
) -> Result<Response, Problem> {
    Ok(waited(StatusCode::ACCEPTED, &app.desk().stop_hub(who.0, request).await?))
}

async fn verify(who: OwnerOrViewer, State(app): State<App>) -> Answer<view::AuditVerdict> {
    json(app.desk().verify_audit(who.0).await)
}
