//! Guards 6 to 9, between a matched route and its handler.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::Extensions;
use loom_domain::Code;
use tokio::time::Instant;

use super::body;
use super::refused::{Asked, refusal};
use super::whoami::{self, Caller};
use crate::principal::Authenticated;
use crate::{App, Peer, Problem, Scope};

/// Who may pass a route's gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody; the answer carries no detail.
    Public,
    /// A principal that holds the scope.
    Scoped(Scope),
}

/// What body a route takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRule {
    /// None; a body that comes is never read.
    None,
    /// A JSON document of settings: a known secret in it is refused.
    Json,
    /// A JSON document with text for people or Agents, which is judged as content (`secret_in_content`).
    Content,
    /// Raw bytes, streamed.
    Artifact,
    /// What another service sends, as the bytes that it signed.
    Hook,
}

/// What a route asks of its callers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Who may pass.
    pub(crate) access: Access,
    /// What body it takes.
    pub(crate) body: BodyRule,
}

/// The gate of one route.
#[derive(Clone)]
pub(crate) struct Gate {
    /// The server.
    pub(crate) app: App,
    /// The rule of the route.
    pub(crate) rule: Rule,
}

/// Lets a request pass to its handler, or answers it.
pub(crate) async fn gate(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (app, body) = (&gate.app, gate.rule.body);
    let peer = match peer_of(request.extensions()) {
        Ok(peer) => peer,
        Err(problem) => return problem.into_response(),
    };
    let Access::Scoped(scope) = gate.rule.access else {
        return answer(admit(app, body, &peer.to_string(), request).await, next).await;
    };
    let caller = match whoami::authenticate(app, &peer, request.headers()).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let asked = Asked::of(&request);
    let response = answer(admit_known(app, body, scope, &caller, request).await, next).await;
    if let Some(code) = refusal(&response) {
        asked.record(app, caller.principal, code).await;
    }
    response
}

async fn answer(admitted: Result<Request, Problem>, next: Next) -> Response {
    match admitted {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

async fn admit_known(
    app: &App,
    body: BodyRule,
    scope: Scope,
    caller: &Caller,
    mut request: Request,
) -> Result<Request, Problem> {
    if !caller.scopes.hold(scope) {
        return Err(Problem::new(Code::Forbidden, "the token's scopes do not cover this"));
    }
    request.extensions_mut().insert(Authenticated(caller.principal.clone()));
    admit(app, body, &caller.principal.to_string(), request).await
}

async fn admit(app: &App, body: BodyRule, caller: &str, request: Request) -> Result<Request, Problem> {
    app.buckets().take(caller, Instant::now()).map_err(|wait| {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        Problem::new(Code::RateLimited, "too many requests").with_retry_after_ms(ms)
    })?;
    body::receive(request, body, app).await
}

fn peer_of(extensions: &Extensions) -> Result<Peer, Problem> {
    extensions.get().cloned().ok_or_else(|| Problem::new(Code::Internal, "a request without its peer"))
}
