//! Probes of the process: liveness for anybody, counters for readers.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::Routes;
use crate::{App, OwnerOrViewer, Problem, Scope};

const END: &str = "# EOF\n";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .public(loom_api::routes::HEALTHZ, healthz)
        .public("/healthz", healthz)
        .get(loom_api::routes::READYZ, Scope::StatusRead, readyz)
        .public("/readyz", ready)
        .get(loom_api::routes::METRICS, Scope::StatusRead, metrics)
        .get("/metrics", Scope::StatusRead, metrics)
}

async fn healthz() -> Json<Value> {
    Json(json!({"ok": true}))
}

/// Whether work is done, for anybody; what stands in its way is for readers.
async fn ready(State(app): State<App>) -> (StatusCode, Json<Value>) {
    let (ready, _) = app.doors().readiness.readiness().await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ok": ready})))
}

async fn readyz(_who: OwnerOrViewer, State(app): State<App>) -> (StatusCode, Json<Value>) {
    let (ready, facts) = app.doors().readiness.readiness().await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(facts))
}

async fn metrics(_who: OwnerOrViewer, State(app): State<App>) -> Result<Response, Problem> {
    let mut text = app.doors().metrics.exposition()?;
    text.truncate(text.trim_end_matches(END).len());
    text.push_str(&app.doors().status.series().await?);
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
