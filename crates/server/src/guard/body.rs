//! Guard 9: type, size, time and form of a body.

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use loom_domain::Code;

use super::BodyRule;
use super::json;
use crate::extract::UploadLimits;
use crate::{App, Problem, RequestLimits};

pub(super) async fn receive(request: Request, rule: BodyRule, app: &App) -> Result<Request, Problem> {
    let limits = &app.config().requests;
    match rule {
        // A body that comes is never read; one that is announced as too large is not waited for either.
        BodyRule::None => refuse_long(request.headers(), limits.body_bytes_max).map(|()| request),
        BodyRule::Json | BodyRule::Content => json_body(request, rule, app).await,
        BodyRule::Artifact => artifact_body(request, limits),
        BodyRule::Hook => hook_body(request, limits).await,
    }
}

async fn json_body(request: Request, rule: BodyRule, app: &App) -> Result<Request, Problem> {
    let limits = &app.config().requests;
    let (parts, body) = request.into_parts();
    if !content_type_is(&parts.headers, "application/json", is_empty(&body))? {
        return Err(unsupported("application/json"));
    }
    refuse_long(&parts.headers, limits.body_bytes_max)?;
    let bytes = collect(body, limits).await?;
    if !bytes.is_empty() {
        json::check(&bytes, limits.json_depth_max)?;
        if rule == BodyRule::Json && (app.doors().holds_secret)(&bytes) {
            return Err(Problem::new(Code::SecretInInput, "the document holds a secret; give its reference"));
        }
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn artifact_body(request: Request, limits: &RequestLimits) -> Result<Request, Problem> {
    let (mut parts, body) = request.into_parts();
    if !content_type_is(&parts.headers, "application/octet-stream", false)? {
        return Err(unsupported("application/octet-stream"));
    }
    refuse_long(&parts.headers, limits.artifact_bytes_max)?;
    parts.extensions.insert(UploadLimits::from(limits));
    Ok(Request::from_parts(parts, body))
}

/// Bytes of an inbound webhook.
const HOOK_BYTES_MAX: usize = 1024 * 1024;
/// What an inbound webhook may be.
const HOOK_TYPES: [&str; 4] = [
    "application/json",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "application/x-www-form-urlencoded",
];

/// The bytes are handed on as they came: their signature is over them.
async fn hook_body(request: Request, limits: &RequestLimits) -> Result<Request, Problem> {
    let (parts, body) = request.into_parts();
    let mut fits = false;
    for wanted in HOOK_TYPES {
        fits = fits || content_type_is(&parts.headers, wanted, false)?;
    }
    if !fits {
        return Err(unsupported("application/json"));
    }
    refuse_long(&parts.headers, HOOK_BYTES_MAX)?;
    let limits = RequestLimits { body_bytes_max: HOOK_BYTES_MAX, ..limits.clone() };
    let bytes = collect(body, &limits).await?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn is_empty(body: &Body) -> bool {
    http_body::Body::is_end_stream(body)
}

/// Whether the one Content-Type is the wanted one. A missing one passes only where there is no body.
fn content_type_is(headers: &HeaderMap, wanted: &str, body_is_empty: bool) -> Result<bool, Problem> {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else { return Ok(body_is_empty) };
    if second.is_some() {
        return Err(unsupported(wanted));
    }
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut pieces = text.split(';').map(str::trim);
    let essence_fits = pieces.next() == Some(wanted);
    Ok(essence_fits && pieces.all(|parameter| matches!(parameter, "charset=utf-8" | "charset=\"utf-8\"")))
}

fn unsupported(wanted: &str) -> Problem {
    Problem::new(Code::UnsupportedMediaType, format!("expected content type {wanted}"))
}

fn refuse_long(headers: &HeaderMap, bytes_max: usize) -> Result<(), Problem> {
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|bytes| bytes > bytes_max) { Err(too_large(bytes_max)) } else { Ok(()) }
}

fn too_large(bytes_max: usize) -> Problem {
    Problem::new(Code::TooLarge, format!("the body is over {bytes_max} bytes"))
}

async fn collect(body: Body, limits: &RequestLimits) -> Result<Bytes, Problem> {
    let collected =
        tokio::time::timeout(limits.body_read, Limited::new(body, limits.body_bytes_max).collect());
    match collected.await {
        Ok(Ok(bytes)) => Ok(bytes.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits.body_bytes_max)),
        Ok(Err(_)) => Err(Problem::new(Code::Usage, "the body could not be read")),
        Err(_) => Err(Problem::new(Code::RequestTimeout, "the body was not received in time")),
    }
}
