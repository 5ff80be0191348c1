//! Periodic reports.

use axum::extract::State;
use axum::routing::MethodFilter;
use loom_api::{request, routes as at};
use serde_json::Value;

use super::{Answer, Routes, json};
use crate::extract::{Doc, Name, Wait};
use crate::{App, Owner, OwnerOrViewer, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .change(MethodFilter::POST, at::REPORTS, Scope::Whole, make)
        .get(at::REPORTS, Scope::StatusRead, list)
        .get(at::REPORT, Scope::StatusRead, show)
}

async fn make(
    who: Owner,
    State(app): State<App>,
    wait: Wait,
    Doc(asked): Doc<request::Report>,
) -> Answer<Value> {
    json(app.desk().make_report(who.0, asked, wait.0).await)
}

async fn list(who: OwnerOrViewer, State(app): State<App>) -> Answer<Value> {
    json(app.desk().reports(who.0).await)
}

async fn show(who: OwnerOrViewer, State(app): State<App>, Name(id): Name) -> Answer<Value> {
    json(app.desk().report(who.0, id).await)
}
