//! One request: guards before routing, the router, and the finish of the answer.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::MatchedPath;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderValue, Request, StatusCode, header};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use loom_domain::Code;
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::pulse::Work;
use crate::{App, Peer, Problem, headers, request_id};

/// Route label of requests that reached no route.
const NO_ROUTE: &str = "none";

pub(super) type Answer = Response<Tracked>;

/// A body that keeps its request counted as work until it is sent or given up.
pub(super) struct Tracked {
    body: Body,
    _work: Work,
}

/// Answers one request. It cannot fail; what goes wrong becomes a problem.
pub(super) async fn answer(
    app: App,
    router: axum::Router,
    peer: Peer,
    request: Request<Incoming>,
    work: Work,
) -> Answer {
    let started = Instant::now();
    let id = request_id::new(app.now());
    let (mut response, cors) = match app.work_place(&peer) {
        Some(_place) => within_limits(&app, router, peer, request).await,
        None => (busy(), None),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let mut rendered = problem.render(&id);
        let allow = response.headers_mut().remove(header::ALLOW);
        rendered.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
        rendered.extensions_mut().extend(std::mem::take(response.extensions_mut()));
        response = rendered;
    }
    headers::finish(&mut response, &id, cors.as_ref());
    let route = response.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str);
    app.doors().metrics.answered(route, response.status().as_u16(), started.elapsed());
    response.map(|body| Tracked { body, _work: work })
}

async fn within_limits(
    app: &App,
    router: axum::Router,
    peer: Peer,
    request: Request<Incoming>,
) -> (Response, Option<HeaderValue>) {
    let (mut parts, body) = request.into_parts();
    let passed = match app.front().check(app.config(), &parts, &peer) {
        Ok(passed) => passed,
        Err(problem) => return (problem.into_response(), None),
    };
    if let Some(response) = passed.preflight_answer(app.config().cors) {
        return (response, passed.cors);
    }
    parts.extensions.insert(peer);
    let routed = AssertUnwindSafe(router.oneshot(Request::from_parts(parts, Body::new(body)))).catch_unwind();
    let response = match Box::pin(routed).await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => Problem::new(Code::Internal, "a handler panicked").into_response(),
    };
    (response, passed.cors)
}

fn busy() -> Response {
    let mut response = StatusCode::SERVICE_UNAVAILABLE.into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

impl http_body::Body for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
