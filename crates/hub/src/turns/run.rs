//! One Turn from claim to end.

use std::time::Duration;

use loom_domain::{
    Code, Principal, Result,
    inbox::{
        Event, StartFailure,
        limits::reconcile_retry_ms,
        reconcile::{Verdict, event_of},
    },
    turn::ClassedError,
};
use loom_runtimes::{
    AgentSession, ErrClass, Input, NativeTurn, OpenedHow, RuntimeError, StartError, ToolState, TurnEvent,
    TurnFate, TurnHandle, TurnKey, TurnOutcome, TurnRequest, TurnStatus,
};
use loom_store::{
    Topic,
    ops::turns::{Claimed, TurnEnd},
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{answer, context, envelope, files, runtimes};
use crate::hub::Hub;

const EVENTS_MAX: usize = 256;

/// Runs a claimed Turn to its end; nothing runs twice. Whether the end was stored: else it is left to reconcile.
pub(super) async fn turn(hub: &Hub, claimed: Claimed, fence: u64) -> bool {
    hub.inner.marks.start(hub, &claimed);
    let end = Box::pin(work(hub, &claimed, fence)).await;
    finish(hub, &claimed, fence, end).await
}

async fn work(hub: &Hub, claimed: &Claimed, fence: u64) -> TurnEnd {
    let prepared = match prepare(hub, claimed).await {
        Ok(prepared) => prepared,
        Err(error) => return not_sent("prepare", &error.message),
    };
    let session = match open(hub, claimed).await {
        Ok(session) => session,
        Err(error) => return start_failed(&error),
    };
    let end = Box::pin(drive(hub, claimed, fence, session.as_ref(), prepared)).await;
    let _ = session.close().await;
    end
}

async fn prepare(hub: &Hub, claimed: &Claimed) -> Result<TurnRequest> {
    let message = files::ready(hub, claimed).await?;
    let context = context::read(hub, claimed, &message).await;
    let copies = files::copies(hub, claimed, &message).await?;
    let (text, facts) = envelope::build(hub, claimed, &message, context.as_ref(), &copies);
    let mut input = vec![Input::Text(text)];
    input.extend(copies.into_iter().map(|copy| copy.as_input()));
    let seconds = |n: u64| Duration::from_secs(n.max(1));
    Ok(TurnRequest {
        key: TurnKey(claimed.turn.id.clone()),
        input,
        facts,
        deadline: Instant::now() + seconds(claimed.agent.max_turn_seconds),
        idle_limit: seconds(claimed.agent.idle_seconds),
    })
}

/// Opens the Agent's thread; a new or lost one is recorded.
pub(super) async fn open(hub: &Hub, claimed: &Claimed) -> Result<Box<dyn AgentSession>, RuntimeError> {
    let agent = &claimed.agent;
    let registry = &hub.inner.runtimes;
    let local = |error: loom_domain::Error| RuntimeError::new(ErrClass::Spawn, error.message);
    registry.ensure_token(hub, agent).await.map_err(local)?;
    let host = registry.host(agent).map_err(local)?;
    let runtime = registry.of(agent, &host).map_err(local)?;
    let spec = runtimes::spec_of(agent, &host).map_err(local)?;
    let binding = runtimes::binding_of(agent, &spec.runtime);
    let opened = runtime.open(&spec, binding.as_ref(), &host).await?;
    let is_lost = matches!(opened.how, OpenedHow::FreshAfterLoss { .. });
    let thread = Some(opened.binding.thread_id.clone()).filter(|id| !id.is_empty());
    let bound = hub.store().bind_thread(hub.act(Principal::Hub), agent.id.clone(), thread, is_lost).await;
    bound.map_err(local)?;
    if let OpenedHow::FreshAfterLoss { reason } = &opened.how {
        tracing::warn!("the thread of {} was lost ({reason}); a new one was opened", agent.name);
        let text = format!("the thread of {} was lost; a new one was opened", agent.name);
        let _ = hub
            .store()
            .tell(
                hub.act(Principal::Hub),
                "thread_lost".to_owned(),
                agent.id.to_string(),
                text,
                format!("loom thread show {}", agent.name),
            )
            .await;
    }
    Ok(opened.session)
}

async fn drive(
    hub: &Hub,
    claimed: &Claimed,
    fence: u64,
    session: &dyn AgentSession,
    request: TurnRequest,
) -> TurnEnd {
    let limits = Limits { deadline: request.deadline, idle: request.idle_limit };
    let (events_in, mut events) = mpsc::channel(EVENTS_MAX);
    let _ = loom_store::fail::point("turn.before_start");
    let handle = match session.start_turn(request, events_in).await {
        Ok(handle) => handle,
        Err(StartError::NotSent(error)) => return not_started(StartFailure::NotSent, &error),
        Err(StartError::Refused(error)) => return start_failed(&error),
        Err(StartError::Indeterminate(error)) => {
            tracing::warn!("it is not known whether {} started: {}", claimed.turn.id, error.message);
            return settle(hub, claimed, session).await;
        }
    };
    let _ = loom_store::fail::point("turn.after_start");
    if let Some(native) = &handle.native {
        accepted(hub, claimed, fence, native).await;
    }
    let outcome = watch(hub, claimed, fence, session, handle, &mut events, limits).await;
    match outcome {
        Watched::Ended(outcome) => ended(hub, claimed, *outcome).await,
        Watched::TimedOut => TurnEnd::TimedOut,
        Watched::Lost => settle(hub, claimed, session).await,
    }
}

#[derive(Clone, Copy)]
struct Limits {
    deadline: Instant,
    idle: Duration,
}

enum Watched {
    Ended(Box<TurnOutcome>),
    TimedOut,
    Lost,
}

async fn watch(
    hub: &Hub,
    claimed: &Claimed,
    fence: u64,
    session: &dyn AgentSession,
    mut handle: TurnHandle,
    events: &mut mpsc::Receiver<TurnEvent>,
    limits: Limits,
) -> Watched {
    let mut native = handle.native.clone();
    let mut wakes = hub.store().watch(Topic::Inbox);
    let mut idle_until = Instant::now() + limits.idle;
    let mut open = true;
    loop {
        tokio::select! {
            outcome = &mut handle.outcome => return outcome.map_or(Watched::Lost, |outcome| Watched::Ended(Box::new(outcome))),
            event = events.recv(), if open => {
                idle_until = Instant::now() + limits.idle;
                match event {
                    Some(event) => on_event(hub, claimed, fence, session, event, &mut native).await,
                    None => open = false,
                }
            }
            changed = wakes.changed() => {
                if changed.is_err() || !is_wanted(hub, claimed).await {
                    stop_turn(hub, session, native.as_ref()).await;
                }
            }
            () = tokio::time::sleep_until(limits.deadline.min(idle_until)) => {
                stop_turn(hub, session, native.as_ref()).await;
                return Watched::TimedOut;
            }
        }
    }
}

async fn is_wanted(hub: &Hub, claimed: &Claimed) -> bool {
    hub.store().turn_is_wanted(claimed.turn.id.clone()).await.unwrap_or(true)
}

async fn stop_turn(hub: &Hub, session: &dyn AgentSession, native: Option<&NativeTurn>) {
    let grace = Duration::from_millis(hub.config().inbox.interrupt_grace_ms);
    if let Some(native) = native
        && let Err(error) = session.interrupt(native, grace).await
    {
        tracing::warn!("a Turn could not be interrupted: {}", error.message);
    }
}

async fn on_event(
    hub: &Hub,
    claimed: &Claimed,
    fence: u64,
    session: &dyn AgentSession,
    event: TurnEvent,
    native: &mut Option<NativeTurn>,
) {
    match event {
        TurnEvent::Accepted(turn) => {
            accepted(hub, claimed, fence, &turn).await;
            *native = Some(turn);
        }
        TurnEvent::Tool { state: ToolState::Started, .. } => {
            let recorded =
                hub.store().turn_tool_called(hub.act(Principal::Hub), claimed.turn.id.clone()).await;
            if let Err(error) = recorded {
                tracing::warn!("a tool call of {} was not recorded: {error}", claimed.turn.id);
            }
        }
        // Approvals by people are not offered here; what needs one is refused, and the Turn goes on.
        TurnEvent::Permission(request) => {
            let _ = session.answer(request.id, loom_runtimes::Decision::Deny).await;
        }
        TurnEvent::Text { item, delta } => hub.feed().output(&claimed.turn, &item, &delta),
        TurnEvent::Retrying { attempt, reason, .. } => {
            tracing::info!("the runtime repeats a model call of {} ({attempt}): {reason}", claimed.turn.id);
        }
        TurnEvent::Tool { .. } | TurnEvent::Notice(_) | TurnEvent::Usage(_) | TurnEvent::Alive => {}
    }
}

async fn accepted(hub: &Hub, claimed: &Claimed, fence: u64, native: &NativeTurn) {
    let stored = hub
        .store()
        .turn_accepted(hub.act(Principal::Hub), claimed.turn.id.clone(), fence, Some(native.0.clone()))
        .await;
    if let Err(error) = stored {
        tracing::warn!("the start of {} was not recorded: {error}", claimed.turn.id);
    }
}

/// What the outcome of a Turn means for its item.
pub(super) async fn ended(hub: &Hub, claimed: &Claimed, outcome: TurnOutcome) -> TurnEnd {
    match outcome.status {
        TurnStatus::Completed => answer::completed(hub, claimed, outcome).await,
        TurnStatus::Failed => {
            let error =
                outcome.error.unwrap_or_else(|| RuntimeError::new(ErrClass::Exited, "the Turn failed"));
            TurnEnd::Failed { retryable: error.retryable, error: classed(&error) }
        }
        TurnStatus::Interrupted | TurnStatus::Lost => TurnEnd::FateUnknown { may_rerun: false },
    }
}

/// Asks the runtime what became of a Turn until it says; never starts it again.
pub(super) async fn settle(hub: &Hub, claimed: &Claimed, session: &dyn AgentSession) -> TurnEnd {
    let key = TurnKey(claimed.turn.id.clone());
    let deadline = Instant::now() + Duration::from_secs(claimed.agent.max_turn_seconds.max(1));
    let mut silence = Silence::default();
    loop {
        let verdict = match session.reconcile(&key).await {
            Ok(TurnFate::Done(outcome)) => return ended(hub, claimed, outcome).await,
            Ok(TurnFate::Running(_)) if Instant::now() >= deadline => return TurnEnd::TimedOut,
            Ok(fate) => {
                silence.broken();
                verdict_of(claimed, &fate)
            }
            Err(error) => silence.verdict(claimed, &error),
        };
        if let Some(end) = end_of(claimed, verdict) {
            return end;
        }
        silence.wait().await;
    }
}

fn verdict_of(claimed: &Claimed, fate: &TurnFate) -> Verdict {
    match fate {
        TurnFate::NeverAccepted => Verdict::NeverAccepted,
        TurnFate::Running(_) => Verdict::Running,
        TurnFate::Interrupted { partial } => {
            Verdict::Interrupted { tool_called: *partial || claimed.turn.tool_calls > 0 }
        }
        TurnFate::Done(_) | TurnFate::Unknown => Verdict::Unknown,
    }
}

/// The end of a Turn that a verdict means; nothing while it runs or the runtime may still answer.
pub(super) fn end_of(claimed: &Claimed, verdict: Verdict) -> Option<TurnEnd> {
    match event_of(verdict, claimed.agent.on_interrupted)? {
        Event::Reattached => None,
        Event::NeverAccepted => Some(TurnEnd::NeverAccepted),
        Event::FateUnknown { may_rerun } => Some(TurnEnd::FateUnknown { may_rerun }),
        _ => Some(TurnEnd::FateUnknown { may_rerun: false }),
    }
}

/// How long a runtime has not answered, and when it is asked again.
#[derive(Debug, Default)]
pub(super) struct Silence {
    since: Option<Instant>,
    tries: u32,
}

impl Silence {
    fn broken(&mut self) {
        self.since = None;
    }

    pub(super) fn verdict(&mut self, claimed: &Claimed, error: &RuntimeError) -> Verdict {
        tracing::info!("{} cannot be reconciled yet: {}", claimed.turn.id, error.message);
        let since = *self.since.get_or_insert_with(Instant::now);
        Verdict::Unreachable { for_ms: i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX) }
    }

    pub(super) async fn wait(&mut self) {
        self.tries = self.tries.saturating_add(1);
        let wait = u64::try_from(reconcile_retry_ms(self.tries)).unwrap_or(60_000);
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
}

/// Stores the end of a Turn, and says whether it could. A store that does not write now is asked again.
pub(super) async fn finish(hub: &Hub, claimed: &Claimed, fence: u64, end: TurnEnd) -> bool {
    let mut wait = Duration::from_millis(50);
    loop {
        let stored = hub
            .store()
            .finish_turn(hub.act(Principal::Hub), claimed.turn.id.clone(), fence, end.clone())
            .await;
        match stored {
            Ok(finished) => {
                hub.inner.metrics.turn(&claimed.agent, &end, claimed.turn.created_at, hub.now());
                tracing::info!(item = %finished.item.id, state = %finished.item.state, "a Turn ended");
                return true;
            }
            Err(error) if error.code == Code::HubReadOnly => {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(5));
            }
            Err(error) => {
                tracing::warn!("the end of {} was refused: {error}", claimed.turn.id);
                return false;
            }
        }
    }
}

fn not_sent(class: &str, message: &str) -> TurnEnd {
    let error = ClassedError { class: class.to_owned(), message: message.to_owned() };
    TurnEnd::NotStarted { failure: StartFailure::NotSent, error }
}

fn not_started(failure: StartFailure, error: &RuntimeError) -> TurnEnd {
    TurnEnd::NotStarted { failure, error: classed(error) }
}

fn start_failed(error: &RuntimeError) -> TurnEnd {
    let failure = match error.class {
        ErrClass::BadRequest => StartFailure::RefusedBadInput,
        ErrClass::Busy | ErrClass::WriterLocked => StartFailure::RefusedBusy,
        _ => StartFailure::NotSent,
    };
    not_started(failure, error)
}

fn classed(error: &RuntimeError) -> ClassedError {
    let class = serde_json::to_value(error.class)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default();
    ClassedError { class, message: loom_domain::text::prefix(&error.message, 512).to_owned() }
}
