//! One request from its arrival to its answer: faults, credentials, limits, the route, the cache, the echo.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::auth::{self, Caller};
use super::fault::FaultAction;
use super::graphql;
use super::quota::{Rate, Resource};
use super::reply::{self, Reply};
use super::rest::{self, Asked};
use super::route::{Route, Target};
use super::show::Urls;
use super::world::World;
use crate::front::answer::{Answer, Outcome};
use crate::front::{Call, Faults, Ledger, Service, clock};

/// The one version of the API that is simulated.
pub(super) const API_VERSION: &str = "2022-11-28";

/// A twin at work.
#[derive(Debug)]
pub(super) struct Github {
    world: Mutex<World>,
    pub(super) ledger: Ledger,
    pub(super) faults: Faults<FaultAction>,
}

/// What the pipeline carries along.
struct Turn<'a> {
    call: &'a Call,
    target: Target,
    caller: Caller,
    resource: Resource,
    now_ms: u64,
}

impl Github {
    pub(super) fn new(world: World) -> Self {
        Self { world: Mutex::new(world), ledger: Ledger::new(), faults: Faults::default() }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn<'a>(&self, call: &'a Call) -> Turn<'a> {
        let world = self.world();
        let target = Target::of(&call.path, &world);
        let caller = Caller::of(call, &world);
        let resource = if target.route == Route::Graphql { Resource::Graphql } else { Resource::Core };
        Turn { call, target, caller, resource, now_ms: clock::now_micros() / 1000 }
    }

    /// What the API answers, its quota, and whether the answer may be cached.
    fn reply(&self, turn: &Turn<'_>, fault: Option<&FaultAction>, in_flight: usize) -> (Reply, Rate) {
        let mut world = self.world();
        let refusal = match fault.and_then(|f| f.refusal(turn.target.route.repo(), &turn.caller.described()))
        {
            Some(refusal) => Some(refusal),
            None => admit(&mut world, turn, in_flight).err(),
        };
        let is_free = turn.target.route == Route::RateLimit;
        let (reply, cost) = match refusal {
            Some(refusal) => (refusal, 0),
            None => {
                let mut reply = evaluate(&mut world, turn);
                if let Some(fault) = fault {
                    fault.bend(&mut reply.body);
                }
                let reply = conditional(reply, turn);
                // «Best practices for using the REST API»: a 304 is free, for authorized requests alone.
                let is_free = is_free || (reply.status == 304 && turn.caller.login().is_some());
                (reply, u64::from(!is_free))
            }
        };
        let World { knobs, quotas, .. } = &mut *world;
        if cost > 0 {
            quotas.charge(turn.caller.login(), turn.resource, knobs, turn.now_ms);
        }
        let mut rate = quotas.rate(turn.caller.login(), turn.resource, knobs, turn.now_ms);
        if let Some(FaultAction::PrimaryLimit { reset_secs, .. }) = fault {
            rate = Rate { used: rate.limit, reset: turn.now_ms / 1000 + reset_secs, ..rate };
        }
        (reply, rate)
    }
}

/// Lets a request pass, or refuses it for its credentials or a limit.
fn admit(world: &mut World, turn: &Turn<'_>, in_flight: usize) -> Result<(), Reply> {
    auth::check(turn.call, &turn.caller)?;
    let World { knobs, quotas, .. } = world;
    if in_flight > knobs.in_flight_max {
        return Err(reply::secondary_limit(403, knobs.retry_after_secs));
    }
    let rate = quotas.rate(turn.caller.login(), turn.resource, knobs, turn.now_ms);
    if rate.remaining() > 0 || turn.target.route == Route::RateLimit {
        return Ok(());
    }
    match turn.resource {
        Resource::Core => Err(reply::primary_limit(403, &turn.caller.described())),
        Resource::Graphql => Err(graphql::rate_limited(&turn.caller.described())),
    }
}

fn evaluate(world: &mut World, turn: &Turn<'_>) -> Reply {
    let api = format!("{}{}", turn.call.origin(), turn.target.prefix);
    let urls = Urls { api, html: world.html_base.clone() };
    let is_graphql = turn.target.route == Route::Graphql;
    match (turn.call.method.as_str(), is_graphql) {
        ("POST", true) => graphql::answer(world, &turn.caller, &urls, &turn.call.body),
        ("GET" | "HEAD", false) => {
            let arguments = turn.call.arguments();
            let asked = Asked {
                route: &turn.target.route,
                canonical: &turn.target.canonical,
                arguments: &arguments,
                caller: &turn.caller,
                urls,
                now_ms: turn.now_ms,
            };
            rest::answer(world, &asked)
        }
        _ => reply::not_found(),
    }
}

/// Gives an answer its `ETag`, or 304 when the client has it already.
fn conditional(reply: Reply, turn: &Turn<'_>) -> Reply {
    if reply.status != 200 || !matches!(turn.call.method.as_str(), "GET" | "HEAD") {
        return reply;
    }
    // The representation, and so its tag, depends on who asks: the answer varies by `Authorization`.
    let mut hash = Sha256::new();
    hash.update(turn.caller.login().unwrap_or_default());
    hash.update(reply.body.to_string());
    for (_, value) in reply.headers.iter().filter(|(name, _)| *name == "link") {
        hash.update(value);
    }
    let tag = hex::encode(hash.finalize());
    let is_known = turn.call.header("if-none-match").is_some_and(|tags| tags.contains(&format!("\"{tag}\"")));
    let reply = reply.with("etag", format!("W/\"{tag}\""));
    if is_known { Reply { status: 304, ..reply } } else { reply }
}

impl Service for Github {
    async fn answer(&self, call: Call) -> Outcome {
        if call.path.starts_with("/twin/") {
            return Outcome::Answer(crate::front::control(&call, &self.ledger, &self.faults));
        }
        let turn = self.turn(&call);
        let mut visit = self.ledger.arrive(&call, &turn.target.canonical);
        let (latency, echo) = {
            let world = self.world();
            (world.knobs.latency, world.knobs.echo_token)
        };
        tokio::time::sleep(latency).await;
        let fault = self.faults.take(call.method.as_str(), &turn.target.canonical);
        match &fault {
            Some(FaultAction::Delay { ms }) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Some(FaultAction::Hang) => std::future::pending().await,
            Some(FaultAction::Drop) => return Outcome::Close,
            _ => {}
        }
        let (mut reply, rate) = self.reply(&turn, fault.as_ref(), visit.in_flight);
        if echo && let Some(authorization) = call.header("authorization") {
            super::show::echo(&mut reply, auth::token(&call).unwrap_or(authorization));
        }
        let mut answer = written(reply, rate, &turn.caller);
        if fault == Some(FaultAction::Html) {
            answer = Answer::html(200, "<!DOCTYPE html><title>Unicorn!</title>");
        }
        match fault {
            Some(FaultAction::Cut { bytes }) => Outcome::Truncated(answer, bytes),
            _ => {
                visit.answered(answer.status);
                Outcome::Answer(answer)
            }
        }
    }
}

/// Writes an answer with the headers that every one has.
fn written(reply: Reply, rate: Rate, caller: &Caller) -> Answer {
    let Reply { status, body, headers } = reply;
    let mut answer = Answer::json(status, &body);
    if status == 304 {
        answer.body = Bytes::new();
    }
    answer.headers.extend(headers);
    answer.headers.extend(rate.headers());
    let scope = if caller.login().is_some() { "private" } else { "public" };
    answer
        .with_header("cache-control", format!("{scope}, max-age=60, s-maxage=60"))
        .with_header("vary", "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept".into())
        .with_header("x-github-media-type", "github.v3; format=json".into())
        .with_header("x-github-api-version-selected", API_VERSION.into())
        .with_header("x-github-request-id", request_id(rate, &body))
}

/// A request id that depends on what was answered.
fn request_id(rate: Rate, body: &Value) -> String {
    let digest = hex::encode_upper(Sha256::digest(json!([rate.used, body]).to_string()));
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!("{}:{}:{}:{}", part(0, 4), part(4, 10), part(10, 16), part(16, 24))
}
