//! The configuration as a whole.

use axum::extract::State;
use axum::routing::MethodFilter;
use loom_api::{request, routes as at};
use loom_domain::OperationId;
use serde_json::Value;

use super::{Answer, Routes, json};
use crate::extract::{Doc, Id};
use crate::{App, Owner, OwnerOrViewer, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::INTEGRATION, Scope::StatusRead, tree)
        .get(at::INTEGRATION_APPLIES, Scope::StatusRead, applies)
        .change(MethodFilter::POST, at::INTEGRATION_APPLIES, Scope::Whole, apply)
        .get(at::INTEGRATION_APPLY, Scope::StatusRead, show)
}

async fn tree(who: OwnerOrViewer, State(app): State<App>) -> Answer<Value> {
    json(app.desk().integration(who.0).await)
}

async fn applies(who: OwnerOrViewer, State(app): State<App>) -> Answer<Value> {
    json(app.desk().integration_applies(who.0).await)
}

async fn apply(
    who: Owner,
    State(app): State<App>,
    Doc(wanted): Doc<request::ApplyIntegration>,
) -> Answer<Value> {
    json(app.desk().apply_integration(who.0, wanted).await)
}

async fn show(who: OwnerOrViewer, State(app): State<App>, Id(id): Id<OperationId>) -> Answer<Value> {
    json(app.desk().integration_apply(who.0, id).await)
}
