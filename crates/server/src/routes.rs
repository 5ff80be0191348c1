//! Every route, one file a noun. A route states who may pass and what body it takes.

mod addresses;
mod agents;
mod answers;
mod artifacts;
mod capabilities;
mod connections;
mod duty;
mod events;
mod inbox;
mod integration;
mod loops;
mod memberships;
mod outbox;
mod probes;
mod refusals;
mod reports;
mod schedules;
mod sends;
mod status;
mod turns;
mod webhooks;

use axum::body::Body;
use axum::extract::MatchedPath;
use axum::handler::Handler;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use axum::{Json, Router};
use http::{Request, StatusCode};
use loom_api::Mutation;
use loom_domain::{Code, Error};
use serde::Serialize;

use crate::guard::{Access, BodyRule, Gate, Rule, gate};
use crate::principal::TakesPrincipal;
use crate::{App, Problem, Scope};

/// Routes under construction.
pub(crate) struct Routes {
    app: App,
    router: Router<App>,
}

/// The whole router.
pub(crate) fn router(app: &App) -> Router {
    all(Routes::new(app)).finish()
}

/// The routes of a server that only watches: nothing here changes anything.
pub(crate) fn watching(app: &App) -> Router {
    events::add(status::add(probes::add(Routes::new(app)))).finish()
}

/// Adds every route.
pub(crate) fn all(routes: Routes) -> Routes {
    const NOUNS: &[fn(Routes) -> Routes] = &[
        probes::add,
        status::add,
        events::add,
        agents::add,
        connections::add,
        addresses::add,
        memberships::add,
        inbox::add,
        refusals::add,
        reports::add,
        schedules::add,
        integration::add,
        sends::add,
        outbox::add,
        artifacts::add,
        answers::add,
        capabilities::add,
        duty::add,
        turns::add,
        loops::add,
        webhooks::add,
    ];
    NOUNS.iter().fold(routes, |routes, add| add(routes))
}

/// A JSON answer or a problem.
type Answer<T> = Result<Json<T>, Problem>;

fn json<T>(result: Result<T, Error>) -> Answer<T> {
    Ok(Json(result?))
}

/// 201 for a new object, 200 for one that was there.
fn created<T: Serialize>(result: Result<Mutation<T>, Error>) -> Result<Response, Problem> {
    let mutation = result?;
    let status = if mutation.created && !mutation.dry_run { StatusCode::CREATED } else { StatusCode::OK };
    Ok(waited(status, &mutation))
}

/// A JSON answer with a status of its own.
fn waited<T: Serialize>(status: StatusCode, answer: &T) -> Response {
    (status, Json(answer)).into_response()
}

const fn scoped(scope: Scope, body: BodyRule) -> Rule {
    Rule { access: Access::Scoped(scope), body }
}

impl Routes {
    /// Starts without routes.
    pub(crate) fn new(app: &App) -> Self {
        Routes { app: app.clone(), router: Router::new() }
    }

    /// Adds a reading route. Its handler takes a principal first, or this does not compile.
    pub(crate) fn get<H, T>(self, path: &str, scope: Scope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: TakesPrincipal + 'static,
    {
        self.on(MethodFilter::GET, path, scoped(scope, BodyRule::None), handler)
    }

    /// Adds a route that changes state and takes a JSON document.
    pub(crate) fn change<H, T>(self, method: MethodFilter, path: &str, scope: Scope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: TakesPrincipal + 'static,
    {
        self.on(method, path, scoped(scope, BodyRule::Json), handler)
    }

    /// Adds a route that takes text for people or Agents.
    pub(crate) fn say<H, T>(self, path: &str, scope: Scope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: TakesPrincipal + 'static,
    {
        self.on(MethodFilter::POST, path, scoped(scope, BodyRule::Content), handler)
    }

    /// Adds a route that takes raw bytes.
    pub(crate) fn upload<H, T>(self, path: &str, scope: Scope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: TakesPrincipal + 'static,
    {
        self.on(MethodFilter::POST, path, scoped(scope, BodyRule::Artifact), handler)
    }

    /// Adds a route that anybody may read.
    fn public<H, T>(self, path: &str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.on(MethodFilter::GET, path, Rule { access: Access::Public, body: BodyRule::None }, handler)
    }

    /// Adds the route of what other services send; its signature is its caller's only proof.
    fn hook<H, T>(self, path: &str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.on(MethodFilter::POST, path, Rule { access: Access::Public, body: BodyRule::Hook }, handler)
    }

    /// Adds the answers for what is no route.
    pub(crate) fn finish(self) -> Router {
        let router = self.router.fallback(no_route).method_not_allowed_fallback(wrong_method);
        router.layer(from_fn(keep_pattern)).with_state(self.app)
    }

    fn on<H, T>(self, method: MethodFilter, path: &str, rule: Rule, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let gate_of_route = from_fn_with_state(Gate { app: self.app.clone(), rule }, gate);
        let route = on(method, handler).route_layer(gate_of_route);
        Routes { app: self.app, router: self.router.route(path, route) }
    }
}

async fn no_route() -> Problem {
    Problem::new(Code::NotFound, "no such route")
}

async fn wrong_method() -> Problem {
    Problem::new(Code::MethodNotAllowed, "the route does not take this method")
}

/// Copies the matched pattern into the answer, as the route label of its counters.
async fn keep_pattern(request: Request<Body>, next: Next) -> Response {
    let pattern = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(pattern) = pattern {
        response.extensions_mut().insert(pattern);
    }
    response
}
