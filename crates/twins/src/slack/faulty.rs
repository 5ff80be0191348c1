//! Runs one request under the planned failures and writes it into the log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::header;
use serde_json::{Value, json};

use super::answer::{Answer, Outcome};
use super::clock;
use super::http::Call;
use super::knobs::{self, FaultAction};
use super::params::Params;
use super::requests::Request;
use super::shared::Shared;
use super::world::{TokenKind, World};

/// How long a call that never answers is held.
const HANG: Duration = Duration::from_hours(1);

/// Acts on the world through `act`, bending the call as the next planned failure says.
pub(super) async fn run<F>(shared: &Arc<Shared>, method: &str, call: &Call, act: F) -> Outcome
where
    F: FnOnce(&mut World) -> Answer,
{
    let fault = shared.change(|world| knobs::take(&mut world.faults, method));
    if let Some(FaultAction::Delay { ms }) = &fault {
        tokio::time::sleep(Duration::from_millis(*ms)).await;
    }
    let refusal = fault.as_ref().and_then(refusal);
    let outcome = shared.change(|world| {
        let outcome = match refusal {
            Some(outcome) => outcome,
            None => bend(act(world), fault.as_ref()),
        };
        record(world, method, call, &outcome, fault.as_ref());
        outcome
    });
    match fault {
        Some(FaultAction::DelayAnswer { ms }) => tokio::time::sleep(Duration::from_millis(ms)).await,
        Some(FaultAction::HangAfterActing) => tokio::time::sleep(HANG).await,
        _ => {}
    }
    outcome
}

/// The outcome of a call that never reaches the world.
fn refusal(fault: &FaultAction) -> Option<Outcome> {
    Some(match fault {
        FaultAction::Error { code } => Outcome::Answer(error(code)),
        FaultAction::Status { status } => Outcome::Answer(Answer::text(*status, "planned failure")),
        FaultAction::RateLimited { retry_after_secs } => Outcome::Answer(rate_limited(*retry_after_secs)),
        FaultAction::DropRequest => Outcome::Close,
        _ => return None,
    })
}

/// What becomes of an answer after the world acted.
fn bend(answer: Answer, fault: Option<&FaultAction>) -> Outcome {
    match fault {
        Some(FaultAction::DropAnswer) => Outcome::Close,
        Some(FaultAction::ErrorAfterActing { code }) => Outcome::Answer(error(code)),
        Some(FaultAction::StatusAfterActing { status }) => {
            Outcome::Answer(Answer::text(*status, "planned failure"))
        }
        Some(FaultAction::ResetAfterBytes { bytes }) => Outcome::Truncated(answer, *bytes),
        _ => Outcome::Answer(answer),
    }
}

fn error(code: &str) -> Answer {
    Answer::json(200, &json!({"ok": false, "error": code}))
}

/// A 429, with or without the header.
pub(super) fn rate_limited(retry_after_secs: Option<u64>) -> Answer {
    let answer = Answer::json(429, &json!({"ok": false, "error": "ratelimited"}));
    match retry_after_secs {
        Some(secs) => answer.with_header("retry-after", secs.to_string()),
        None => answer,
    }
}

fn record(world: &mut World, method: &str, call: &Call, outcome: &Outcome, fault: Option<&FaultAction>) {
    let (status, answered) = match outcome {
        Outcome::Answer(answer) => (answer.status, code_of(answer)),
        Outcome::Close | Outcome::Truncated(..) => (0, "cut".to_owned()),
    };
    let planned = fault.and_then(|f| serde_json::to_value(f).ok()?.get("kind")?.as_str().map(str::to_owned));
    let request = Request {
        number: world.request_count + 1,
        method: method.to_owned(),
        http_method: call.method.to_string(),
        headers: headers(world, call),
        arguments: arguments(call),
        body_bytes: call.body.len(),
        status,
        outcome: planned.unwrap_or(answered),
        at_ms: clock::now_micros() / 1000,
    };
    world.log(request);
}

fn code_of(answer: &Answer) -> String {
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let code = body.as_ref().and_then(|b| b.get("error")).and_then(Value::as_str);
    code.unwrap_or(if answer.status == 200 { "ok" } else { "failed" }).to_owned()
}

fn arguments(call: &Call) -> BTreeMap<String, Value> {
    if !call.path.starts_with("/api/") {
        return BTreeMap::new();
    }
    let params = Params::read(&call.query, call.header(header::CONTENT_TYPE), &call.body).unwrap_or_default();
    params.0.into_iter().filter(|(key, _)| key != "token").collect()
}

fn headers(world: &World, call: &Call) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (name, value) in &call.headers {
        let value = match name.as_str() {
            "user-agent" | "host" | "date" => continue,
            "authorization" => match call.bearer().and_then(|t| world.tokens.get(t)).map(|t| t.kind) {
                Some(TokenKind::Bot) => "bot".to_owned(),
                Some(TokenKind::App) => "app".to_owned(),
                None => "unknown".to_owned(),
            },
            _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        out.insert(name.as_str().to_owned(), value);
    }
    out
}
