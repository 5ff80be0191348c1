//! One open thread: starts Turns on it, one at a time, and finds out what became of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::clocks::Clocks;
use crate::turn_dir::{Staged, TurnDir};
use crate::{
    AgentSession, AgentSpec, Decision, ErrClass, HostCtx, Input, InterruptOutcome, NativeTurn, PermissionId,
    RuntimeError, StartError, SteerError, TurnEvent, TurnFate, TurnHandle, TurnKey, TurnRequest,
};

use super::Shared;
use super::connection::CallError;
use super::history::{self, list, text};
use super::open;
use super::permission::{self, Question};
use super::server::AppServer;
use super::turn::{End, TurnTask};
use super::usage::Meter;

/// Wait for the end of a Turn beyond the grace of its interrupt.
const END_WAIT: Duration = Duration::from_secs(10);
/// Turns asked for at once when the record is read.
const PAGE_TURNS: u32 = 10;

/// A thread and the process that holds it.
pub(super) struct CodexSession {
    shared: Arc<Shared>,
    agent: AgentSpec,
    host: HostCtx,
    thread: String,
    holder: tokio::sync::Mutex<Arc<AppServer>>,
    current: Mutex<Option<Current>>,
    questions: Arc<Mutex<Questions>>,
    meter: Arc<Mutex<Meter>>,
}

/// Questions that wait, by their id as text.
pub(super) type Questions = HashMap<String, (Arc<AppServer>, Question)>;

struct Current {
    key: TurnKey,
    native: NativeTurn,
    stop: mpsc::Sender<Duration>,
    end: watch::Receiver<Option<End>>,
    _task: AbortOnDropHandle<()>,
}

impl CodexSession {
    pub(super) fn new(
        shared: Arc<Shared>,
        agent: AgentSpec,
        host: HostCtx,
        thread: String,
        holder: Arc<AppServer>,
    ) -> Self {
        CodexSession {
            shared,
            agent,
            host,
            thread,
            holder: tokio::sync::Mutex::new(holder),
            current: Mutex::new(None),
            questions: Arc::default(),
            meter: Arc::default(),
        }
    }

    /// The living holder of the thread; a thread whose process ended is loaded again.
    async fn held(&self, holder: &mut Arc<AppServer>) -> Result<Arc<AppServer>, RuntimeError> {
        if !holder.connection.is_open() {
            let server = self.shared.server().await?;
            open::resume(&server, &self.thread, &self.agent, &self.host).await?;
            *lock(&self.meter) = Meter::default();
            *holder = server;
        }
        Ok(Arc::clone(holder))
    }

    /// Sends the input. A server that does not answer is killed, so that it cannot take the input later.
    async fn send(
        &self,
        server: &AppServer,
        turn: &TurnRequest,
        staged: &[Staged],
    ) -> Result<NativeTurn, StartError> {
        let params = json!({
            "threadId": self.thread,
            "input": items(&turn.input, staged),
            "clientUserMessageId": turn.key.0,
            "effort": self.agent.runtime.effort,
        });
        match server.connection.call("turn/start", params, self.host.limits.request_wait).await {
            Ok(answer) => {
                let id = text(answer.get("turn").unwrap_or(&Value::Null), "id").to_owned();
                Ok(NativeTurn(id))
            }
            Err(CallError::NotSent(error)) => Err(StartError::NotSent(error)),
            Err(CallError::Refused(error)) => Err(StartError::Refused(error)),
            Err(CallError::NoAnswer(error)) => {
                server.kill().await;
                Err(StartError::Indeterminate(error))
            }
        }
    }

    fn is_busy(&self) -> bool {
        lock(&self.current).as_ref().is_some_and(|current| current.end.borrow().is_none())
    }

    fn running_as(&self, key: &TurnKey) -> Option<NativeTurn> {
        let current = lock(&self.current);
        let current =
            current.as_ref().filter(|current| current.key == *key && current.end.borrow().is_none())?;
        Some(current.native.clone())
    }

    /// The Turn whose message carries the key and the newest Turn, oldest first.
    async fn record(&self, server: &AppServer, key: &str) -> Result<Vec<Value>, RuntimeError> {
        let mut newest = None;
        let mut cursor = Value::Null;
        loop {
            let params = json!({"threadId": self.thread, "limit": PAGE_TURNS, "sortDirection": "desc",
                "itemsView": "full", "cursor": cursor});
            let page =
                server.connection.call("thread/turns/list", params, self.host.limits.request_wait).await;
            let page = page.map_err(CallError::into_error)?;
            newest = newest.or_else(|| list(&page, "data").first().cloned());
            let found = list(&page, "data").iter().find(|turn| history::carries(turn, key)).cloned();
            cursor = page.get("nextCursor").cloned().unwrap_or(Value::Null);
            if found.is_some() || cursor.is_null() {
                return Ok(found.into_iter().chain(newest).collect());
            }
        }
    }
}

#[async_trait]
impl AgentSession for CodexSession {
    async fn start_turn(
        &self,
        turn: TurnRequest,
        events: mpsc::Sender<TurnEvent>,
    ) -> Result<TurnHandle, StartError> {
        let mut holder = self.holder.lock().await;
        if self.is_busy() {
            // Codex would add the input to the running Turn.
            return Err(StartError::Refused(RuntimeError::new(ErrClass::Busy, "a Turn is running already")));
        }
        let server = self.held(&mut holder).await.map_err(StartError::NotSent)?;
        let dir = TurnDir::of(&self.host, &turn.key);
        let staged = dir.stage(&turn.input).map_err(|error| {
            StartError::NotSent(RuntimeError::new(ErrClass::Spawn, format!("the Turn's directory: {error}")))
        })?;
        let incoming = server.connection.subscribe(&self.thread);
        lock(&self.meter).begin();
        let native = self.send(&server, &turn, &staged).await.inspect_err(|_| {
            server.connection.unsubscribe(&self.thread);
        })?;
        if let Err(error) = dir.mark_accepted() {
            tracing::warn!(%error, "the mark of an accepted Turn could not be kept");
        }
        // The queue is empty, so there is room; without a listener the Turn runs all the same.
        let _ = events.try_send(TurnEvent::Accepted(native.clone()));
        let (outcome_sender, outcome) = oneshot::channel();
        let (end_sender, end) = watch::channel(None);
        let (stop, stop_asked) = mpsc::channel(1);
        let clocks = Clocks::new(turn.deadline, turn.idle_limit, Instant::now());
        let task = TurnTask::new(
            server,
            self.thread.clone(),
            native.clone(),
            self.host.clone(),
            events,
            clocks,
            Arc::clone(&self.questions),
            Arc::clone(&self.meter),
        );
        let task = self.shared.running.spawn(async move {
            let (outcome, how) = task.run(incoming, stop_asked).await;
            let _ = outcome_sender.send(outcome);
            let _ = end_sender.send(Some(how));
        });
        let task = AbortOnDropHandle::new(task);
        let current = Current { key: turn.key, native: native.clone(), stop, end, _task: task };
        *lock(&self.current) = Some(current);
        Ok(TurnHandle { native: Some(native), outcome })
    }

    async fn steer(&self, turn: &NativeTurn, input: Vec<Input>) -> Result<(), SteerError> {
        if !self.is_busy() {
            return Err(SteerError::NotActive);
        }
        let server = Arc::clone(&*self.holder.lock().await);
        let params = json!({"threadId": self.thread, "input": items(&input, &[]), "expectedTurnId": turn.0});
        match server.connection.call("turn/steer", params, self.host.limits.request_wait).await {
            Ok(_) => Ok(()),
            Err(CallError::Refused(error)) if error.message.contains("turn") => Err(SteerError::NotActive),
            Err(error) => Err(SteerError::Failed(error.into_error())),
        }
    }

    async fn interrupt(&self, turn: &NativeTurn, grace: Duration) -> Result<InterruptOutcome, RuntimeError> {
        let found = {
            let current = lock(&self.current);
            let current =
                current.as_ref().filter(|current| current.native == *turn && current.end.borrow().is_none());
            current.map(|current| (current.stop.clone(), current.end.clone()))
        };
        let Some((stop, mut end)) = found else { return Ok(InterruptOutcome::AlreadyDone) };
        // A full queue holds an earlier interrupt, which does the same.
        let _ = stop.try_send(grace);
        let how = match timeout(grace + END_WAIT, end.wait_for(Option::is_some)).await {
            Ok(Ok(how)) => *how,
            Ok(Err(_)) => None,
            Err(_) => return Err(RuntimeError::new(ErrClass::Timeout, "the Turn did not end after SIGKILL")),
        };
        Ok(match how {
            Some(End::Clean) => InterruptOutcome::Clean,
            Some(End::Killed) => InterruptOutcome::Killed,
            Some(End::Natural) | None => InterruptOutcome::AlreadyDone,
        })
    }

    async fn reconcile(&self, key: &TurnKey) -> Result<TurnFate, RuntimeError> {
        // Codex records an input a little after it took it.
        if let Some(native) = self.running_as(key) {
            return Ok(TurnFate::Running(native));
        }
        let server = self.shared.server().await?;
        let accepted = TurnDir::of(&self.host, key).is_accepted();
        let turns = match self.record(&server, key.0.as_str()).await {
            Ok(turns) => turns,
            // The thread has no record, so it holds no Turn.
            Err(error) if error.class == ErrClass::ThreadLost => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(history::fate(&turns, key.0.as_str(), accepted, &self.host.redact))
    }

    async fn answer(&self, permission: PermissionId, decision: Decision) -> Result<(), RuntimeError> {
        let question = lock(&self.questions).remove(&permission.0);
        let Some((server, question)) = question else {
            return Err(RuntimeError::new(ErrClass::BadRequest, "no such question waits"));
        };
        server.connection.respond(&question.id, permission::result(&question, decision)).await
    }

    async fn close(self: Box<Self>) -> Result<(), RuntimeError> {
        let native = lock(&self.current).as_ref().map(|current| current.native.clone());
        if let Some(native) = native {
            self.interrupt(&native, self.host.limits.grace).await?;
        }
        let server = Arc::clone(&*self.holder.lock().await);
        server.connection.post("thread/unsubscribe", json!({"threadId": self.thread})).await;
        Ok(())
    }
}

/// Input in codex's words. Other files than pictures are staged, and the envelope names them.
fn items(input: &[Input], staged: &[Staged]) -> Vec<Value> {
    let texts = input.iter().filter_map(|input| match input {
        Input::Text(text) => Some(json!({"type": "text", "text": text})),
        Input::Image(_) | Input::File(_) => None,
    });
    let pictures =
        staged.iter().filter(|one| one.image).map(|one| json!({"type": "localImage", "path": one.path}));
    texts.chain(pictures).collect()
}

/// Locks, whatever happened to an earlier holder.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
