//! Extractors for what a request holds: a JSON document, a query, ids of the path, an uploaded file.

use std::str::FromStr;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use bytes::Bytes;
use http::request::Parts;
use http_body_util::BodyExt as _;
use loom_domain::{Code, Error};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::{Problem, RequestLimits};

/// The JSON document of a request; guard 9 has checked its form. No body reads as `{}`.
pub(crate) struct Doc<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Doc<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        // The gate has bounded and buffered the body.
        let bytes = to_bytes(request.into_body(), usize::MAX).await.map_err(Error::internal)?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        serde_json::from_slice(text).map(Doc).map_err(|error| unreadable(&error).into())
    }
}

/// Turns serde's text into one code, without quoting values of the document.
fn unreadable(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    if text.starts_with("unknown field") {
        return Error::new(Code::UnknownField, text);
    }
    if text.starts_with("missing field") {
        return Error::new(Code::MissingField, text);
    }
    let expected =
        text.find("expected").and_then(|at| text.get(at..)).unwrap_or("a value has the wrong form");
    Error::new(Code::InvalidArgument, expected)
        .with_detail("line", error.line())
        .with_detail("column", error.column())
}

/// The query of a request. A parameter the route does not know is refused.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri).map_err(|rejection| {
            let text = rejection.body_text();
            let why = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, why)| why);
            Error::new(Code::InvalidArgument, format!("query: {why}"))
        })?;
        Ok(Params(query.0))
    }
}

/// The first id of the path.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr<Err = Error>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Ok(Id(path_text(parts, state, 0).await?.parse()?))
    }
}

async fn path_text<S: Send + Sync>(parts: &mut Parts, state: &S, place: usize) -> Result<String, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await;
    let params = params.map_err(|_| Error::new(Code::InvalidId, "the path is not UTF-8"))?;
    let text = params.iter().nth(place).map(|(_, text)| text.to_owned());
    text.ok_or_else(|| Error::internal("a route without its path parameter").into())
}

/// Limits of an upload, put into the request by guard 9.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UploadLimits {
    bytes_max: usize,
    grace: Duration,
    bytes_per_s_min: u64,
}

impl From<&RequestLimits> for UploadLimits {
    fn from(limits: &RequestLimits) -> Self {
        UploadLimits {
            bytes_max: limits.artifact_bytes_max,
            grace: limits.body_read,
            bytes_per_s_min: limits.upload_bytes_per_s_min.max(1),
        }
    }
}

/// The bytes of an upload, taken chunk by chunk with a limit on size and slowness.
pub(crate) struct Upload {
    body: Body,
    limits: UploadLimits,
    started: Instant,
    received: usize,
}

impl<S: Sync> FromRequest<S> for Upload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let limits = request.extensions().get::<UploadLimits>().copied();
        let limits = limits.ok_or_else(|| Error::internal("an upload outside of its gate"))?;
        Ok(Upload { body: request.into_body(), limits, started: Instant::now(), received: 0 })
    }
}

impl Upload {
    /// The next chunk, or `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let earned = u64::try_from(self.received).unwrap_or(u64::MAX) / self.limits.bytes_per_s_min;
        let deadline = self.started + self.limits.grace + Duration::from_secs(earned);
        let frame = tokio::time::timeout_at(deadline, self.body.frame()).await;
        let frame = frame.map_err(|_| Error::new(Code::RequestTimeout, "the upload is too slow"))?;
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(|_| Error::new(Code::Usage, "the upload broke off"))?;
        let data = frame.into_data().unwrap_or_default();
        self.received = self.received.saturating_add(data.len());
        if self.received > self.limits.bytes_max {
            let limit = self.limits.bytes_max;
            return Err(Error::new(Code::TooLarge, format!("the file is over {limit} bytes")));
        }
        Ok(Some(data))
    }
}
