//! The status of everything, for readers: a document, a page, and what stands behind them.

use axum::Json;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use loom_api::query;
use loom_domain::Error;
use serde_json::{Value, json};

use super::{Answer, Routes, json as answered};
use crate::extract::{Name, Params};
use crate::status::{html, weak_tag};
use crate::{App, OwnerOrViewer, Problem, Scope};

/// Rows of a page when none are asked for, and at most.
const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 500;
/// Most rows that a cursor reaches.
const ROWS_MAX: usize = 10_000;

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get("/", Scope::StatusRead, page)
        .get("/status.json", Scope::StatusRead, document)
        .get(loom_api::routes::CAPABILITIES, Scope::StatusRead, capabilities)
        .get(loom_api::routes::CAPABILITY, Scope::StatusRead, capability)
        .get(loom_api::routes::PAYLOAD, Scope::StatusRead, payload)
        .get(loom_api::routes::REQUESTS, Scope::StatusRead, requests)
}

async fn page(_who: OwnerOrViewer, State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    let status = app.doors().status.status().await?;
    let wants_page = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|text| text.split(',').any(|kind| kind.trim().starts_with("text/html")));
    Ok(if wants_page {
        tagged(&status, &headers, Html(html(&status)).into_response())
    } else {
        told(&status, &headers)
    })
}

async fn document(
    _who: OwnerOrViewer,
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Ok(told(&app.doors().status.status().await?, &headers))
}

fn told(status: &Value, headers: &HeaderMap) -> Response {
    tagged(status, headers, Json(status).into_response())
}

/// Adds the tag of the document, or answers that the reader has it already.
fn tagged(status: &Value, headers: &HeaderMap, mut response: Response) -> Response {
    let tag = weak_tag(status);
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    if known
        .flat_map(|text| text.split(','))
        .any(|known| matches!(known.trim(), text if text == tag || text == "*"))
    {
        response = StatusCode::NOT_MODIFIED.into_response();
    }
    if let Ok(value) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
    response
}

async fn capabilities(
    _who: OwnerOrViewer,
    State(app): State<App>,
    Params(paging): Params<query::Paging>,
) -> Answer<Value> {
    let lines = app.doors().status.capabilities().await;
    answered(lines.and_then(|lines| cut(lines, &paging, "loom.catalog/v1")))
}

async fn capability(_who: OwnerOrViewer, State(app): State<App>, Name(id): Name) -> Answer<Value> {
    answered(app.doors().status.capability(id).await)
}

async fn payload(_who: OwnerOrViewer, State(app): State<App>, Name(id): Name) -> Answer<Value> {
    answered(app.doors().status.payload(id).await)
}

async fn requests(
    _who: OwnerOrViewer,
    State(app): State<App>,
    Params(paging): Params<query::Paging>,
) -> Answer<Value> {
    let from = start(&paging)?;
    let wanted = from.saturating_add(rows(&paging)?).saturating_add(1).min(ROWS_MAX);
    let lines = app.doors().status.requests(wanted).await;
    answered(lines.and_then(|lines| cut(lines, &paging, "loom.requests/v1")))
}

fn rows(paging: &query::Paging) -> Result<usize, Error> {
    match paging.limit.unwrap_or(LIMIT_DEFAULT) {
        limit @ 1..=LIMIT_MAX => Ok(usize::try_from(limit).unwrap_or(1)),
        _ => Err(Error::invalid("limit", format!("expected 1 to {LIMIT_MAX}"))),
    }
}

fn start(paging: &query::Paging) -> Result<usize, Error> {
    let Some(cursor) = &paging.cursor else { return Ok(0) };
    let place = cursor.parse().ok().filter(|place| *place < ROWS_MAX);
    place.ok_or_else(|| Error::invalid("cursor", "expected the cursor of the page before"))
}

/// A page of a list that is short enough to be read whole.
fn cut(lines: Vec<Value>, paging: &query::Paging, schema: &str) -> Result<Value, Error> {
    let (from, rows) = (start(paging)?, rows(paging)?);
    let more = lines.len() > from.saturating_add(rows);
    let items: Vec<Value> = lines.into_iter().skip(from).take(rows).collect();
    let next = more.then(|| from.saturating_add(items.len()).to_string());
    Ok(json!({"schema_version": schema, "items": items, "next_cursor": next}))
}
