//! What every adapter must do, checked against a real or scripted peer.
//!
//! What it is not: it replaces no test of an adapter's own wire. It panics nowhere: the first thing that is
//! wrong is told as text.

use std::time::Duration;

use loom_domain::TurnId;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::{
    AgentRuntime, AgentSession, AgentSpec, Decision, ErrClass, HostCtx, Input, InterruptOutcome, NativeTurn,
    OpenedHow, PermissionId, StartError, SteerError, TurnEvent, TurnFate, TurnHandle, TurnKey, TurnOutcome,
    TurnRequest, TurnStatus,
};

/// Wait for anything that should come at once.
const SOON: Duration = Duration::from_secs(30);
/// Events kept while a Turn runs.
const EVENTS_MAX: usize = 1024;

/// Inputs whose effect the caller knows.
#[derive(Debug, Clone)]
pub struct Cases {
    /// An input that is answered at once.
    pub quick: String,
    /// Its answer.
    pub answer: String,
    /// An input that takes at least a minute.
    pub slow: String,
}

/// Checks one adapter. The error says what is wrong.
pub async fn check(
    runtime: &dyn AgentRuntime,
    agent: &AgentSpec,
    host: &HostCtx,
    cases: &Cases,
) -> Result<(), String> {
    runtime.probe().await.map_err(|error| format!("probe: {error}"))?;
    let opened = runtime.open(agent, None, host).await.map_err(|error| format!("open: {error}"))?;
    same("how a first open went", &opened.how, &OpenedHow::Fresh)?;
    same("the kind of the binding", &opened.binding.kind, &runtime.kind())?;
    let session = opened.session.as_ref();
    nothing_runs(session).await?;
    answers(session, 1, cases).await?;
    one_turn_at_a_time(session, cases).await?;
    answers(session, 4, cases).await?;
    clocks_stop_a_turn(session, cases).await?;
    answers(session, 7, cases).await?;
    opened.session.close().await.map_err(|error| format!("close: {error}"))
}

/// The key of the n-th Turn.
pub fn key(number: u128) -> TurnKey {
    TurnKey(TurnId::new(1_700_000_000_000, number))
}

/// A request with one text and wide limits.
pub fn request(number: u128, text: &str) -> TurnRequest {
    TurnRequest {
        key: key(number),
        input: vec![Input::Text(text.to_owned())],
        facts: serde_json::Value::Null,
        deadline: Instant::now() + Duration::from_mins(5),
        idle_limit: Duration::from_mins(2),
    }
}

/// Starts a Turn and gives its handle and its first event.
pub async fn start(
    session: &dyn AgentSession,
    request: TurnRequest,
) -> Result<(TurnHandle, NativeTurn, mpsc::Receiver<TurnEvent>), String> {
    let (sender, mut events) = mpsc::channel(EVENTS_MAX);
    let handle = session.start_turn(request, sender).await.map_err(|error| format!("start_turn: {error}"))?;
    match soon(events.recv()).await? {
        Some(TurnEvent::Accepted(native)) => Ok((handle, native, events)),
        other => Err(format!("the first event is {other:?}, not Accepted")),
    }
}

/// Waits for the end of a Turn.
pub async fn end(handle: TurnHandle) -> Result<TurnOutcome, String> {
    soon(handle.outcome).await?.map_err(|_| "the outcome never came".to_owned())
}

async fn nothing_runs(session: &dyn AgentSession) -> Result<(), String> {
    let fate = session.reconcile(&key(99)).await.map_err(|error| format!("reconcile: {error}"))?;
    same("the fate of a Turn that never was", &fate, &TurnFate::NeverAccepted)?;
    let native = NativeTurn("none".to_owned());
    match session.steer(&native, Vec::new()).await {
        Err(SteerError::NotActive | SteerError::Unsupported) => {}
        other => return Err(format!("steering nothing gave {other:?}")),
    }
    let how =
        session.interrupt(&native, Duration::ZERO).await.map_err(|error| format!("interrupt: {error}"))?;
    same("an interrupt of nothing", &how, &InterruptOutcome::AlreadyDone)?;
    match session.answer(PermissionId("none".to_owned()), Decision::AllowOnce).await {
        Err(_) => Ok(()),
        Ok(()) => Err("an answer to no question was taken".to_owned()),
    }
}

async fn answers(session: &dyn AgentSession, number: u128, cases: &Cases) -> Result<(), String> {
    let (handle, ..) = start(session, request(number, &cases.quick)).await?;
    let outcome = end(handle).await?;
    same("the status of a quick Turn", &outcome.status, &TurnStatus::Completed)?;
    let text = outcome.answer.map(|answer| answer.text);
    same("its answer", &text.as_deref(), &Some(cases.answer.as_str()))
}

async fn one_turn_at_a_time(session: &dyn AgentSession, cases: &Cases) -> Result<(), String> {
    let (handle, native, _events) = start(session, request(2, &cases.slow)).await?;
    let (sender, _second) = mpsc::channel(EVENTS_MAX);
    match session.start_turn(request(3, &cases.quick), sender).await {
        Err(StartError::Refused(error)) if error.class == ErrClass::Busy => {}
        other => return Err(format!("a second Turn gave {other:?}, not Refused(Busy)")),
    }
    let how = soon(session.interrupt(&native, Duration::from_secs(5))).await?;
    match how.map_err(|error| format!("interrupt: {error}"))? {
        InterruptOutcome::Clean | InterruptOutcome::Killed => {}
        InterruptOutcome::AlreadyDone => return Err("a running Turn was said to be done".to_owned()),
    }
    let outcome = end(handle).await?;
    same("the status of a stopped Turn", &outcome.status, &TurnStatus::Interrupted)?;
    same("its answer", &outcome.answer, &None)?;
    let again =
        session.interrupt(&native, Duration::ZERO).await.map_err(|error| format!("interrupt: {error}"))?;
    same("a second interrupt", &again, &InterruptOutcome::AlreadyDone)
}

async fn clocks_stop_a_turn(session: &dyn AgentSession, cases: &Cases) -> Result<(), String> {
    let mut late = request(5, &cases.slow);
    late.deadline = Instant::now() + Duration::from_millis(300);
    let (handle, ..) = start(session, late).await?;
    let outcome = end(handle).await?;
    same("the status of a late Turn", &outcome.status, &TurnStatus::Interrupted)?;
    same("its class", &outcome.error.map(|error| error.class), &Some(ErrClass::Timeout))
}

async fn soon<T>(work: impl Future<Output = T>) -> Result<T, String> {
    timeout(SOON, work).await.map_err(|_| format!("nothing happened within {} s", SOON.as_secs()))
}

fn same<T: std::fmt::Debug + PartialEq>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?}")) }
}
