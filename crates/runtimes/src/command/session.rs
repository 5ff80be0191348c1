//! The session of one Agent: at most one program at a time.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::clocks::Clocks;
use crate::process::{ChildRecord, Liveness, environment, spawn};
use crate::turn_dir::TurnDir;
use crate::{
    AgentSession, AgentSpec, Decision, ErrClass, HostCtx, Input, InterruptOutcome, NativeTurn, PermissionId,
    RuntimeError, StartError, SteerError, TurnEvent, TurnFate, TurnHandle, TurnKey, TurnOutcome, TurnRequest,
};

use super::input;
use super::run::{GroupGuard, Run};

/// The token in `resume_argv` that stands for the thread.
const THREAD_TOKEN: &str = "{thread}";
/// Wait for the end of a program beyond its grace.
const END_WAIT: Duration = Duration::from_secs(5);

/// Runs programs for one Agent.
pub(super) struct CommandSession {
    agent: AgentSpec,
    host: HostCtx,
    thread: std::sync::Arc<Mutex<String>>,
    current: Mutex<Option<Current>>,
    leave: CancellationToken,
    running: TaskTracker,
}

struct Current {
    native: NativeTurn,
    stop: mpsc::Sender<Duration>,
    done: watch::Receiver<bool>,
    _task: AbortOnDropHandle<()>,
}

impl CommandSession {
    pub(super) fn new(
        agent: AgentSpec,
        host: HostCtx,
        thread: String,
        leave: CancellationToken,
        running: TaskTracker,
    ) -> Self {
        let thread = std::sync::Arc::new(Mutex::new(thread));
        CommandSession { agent, host, thread, current: Mutex::new(None), leave, running }
    }

    fn argv(&self) -> Vec<String> {
        let thread = lock(&self.thread).clone();
        let settings = &self.agent.runtime;
        if thread.is_empty() || settings.resume_argv.is_empty() {
            return settings.argv.clone();
        }
        settings.resume_argv.iter().map(|argument| argument.replace(THREAD_TOKEN, &thread)).collect()
    }

    /// Starts the program. The record of the intention is on disk before it starts, and its id right after.
    fn launch(&self, turn: &TurnRequest) -> Result<Launched, StartError> {
        let not_sent = |error: std::io::Error| {
            StartError::NotSent(RuntimeError::new(ErrClass::Spawn, format!("the Turn's directory: {error}")))
        };
        let dir = TurnDir::of(&self.host, &turn.key);
        let staged = dir.stage(&turn.input).map_err(not_sent)?;
        let stdin = input::stdin(&self.agent, turn, &staged);
        let env = self.environment(&dir, &turn.key);
        ChildRecord::intention().write(&dir.child()).map_err(not_sent)?;
        let child = match spawn(&self.argv(), &env, &self.agent.cwd) {
            Ok(child) => child,
            Err(error) => {
                // Nothing ran, so nothing may say that something might have.
                let _ = std::fs::remove_file(dir.child());
                return Err(StartError::NotSent(error));
            }
        };
        let child_id = child.id().unwrap_or_default();
        if let Err(error) = ChildRecord::of(child_id).write(&dir.child()) {
            // The child dies with its handle; whether it acted before is not known.
            let message = format!("the child record: {error}");
            return Err(StartError::Indeterminate(RuntimeError::new(ErrClass::Spawn, message)));
        }
        Ok(Launched { child, child_id, stdin, dir })
    }

    fn environment(&self, dir: &TurnDir, key: &TurnKey) -> std::collections::BTreeMap<String, String> {
        let mut own: Vec<(&str, &Path)> = vec![
            ("LOOM_AGENT_ID", Path::new(self.agent.id.as_str())),
            ("LOOM_TURN_ID", Path::new(key.0.as_str())),
            ("LOOM_TURN_DIR", dir.path()),
        ];
        own.extend(self.host.token_file.as_deref().map(|path| ("LOOM_TOKEN_FILE", path)));
        own.extend(self.host.socket_path.as_deref().map(|path| ("LOOM_SOCKET", path)));
        environment(&self.host, &own)
    }

    /// The running Turn's stop channel and end, when it is this one.
    fn running(&self, native: &NativeTurn) -> Option<(mpsc::Sender<Duration>, watch::Receiver<bool>)> {
        let current = lock(&self.current);
        let current =
            current.as_ref().filter(|current| current.native == *native && !*current.done.borrow())?;
        Some((current.stop.clone(), current.done.clone()))
    }
}

struct Launched {
    child: tokio::process::Child,
    child_id: u32,
    stdin: Vec<u8>,
    dir: TurnDir,
}

#[async_trait]
impl AgentSession for CommandSession {
    async fn start_turn(
        &self,
        turn: TurnRequest,
        events: mpsc::Sender<TurnEvent>,
    ) -> Result<TurnHandle, StartError> {
        let mut current = lock(&self.current);
        if current.as_ref().is_some_and(|current| !*current.done.borrow()) {
            return Err(StartError::Refused(RuntimeError::new(ErrClass::Busy, "a Turn is running already")));
        }
        let launched = self.launch(&turn)?;
        let native = NativeTurn(launched.child_id.to_string());
        // The queue is empty, so there is room; without a listener the Turn runs all the same.
        let _ = events.try_send(TurnEvent::Accepted(native.clone()));
        let (stop, stop_asked) = mpsc::channel(1);
        let (outcome_sender, outcome) = oneshot::channel();
        let (done_sender, done) = watch::channel(false);
        let run = Run {
            group: GroupGuard::new(launched.child_id),
            child: launched.child,
            child_id: launched.child_id,
            stdin: launched.stdin,
            form: self.agent.runtime.output,
            clocks: Clocks::new(turn.deadline, turn.idle_limit, Instant::now()),
            dir: launched.dir,
            host: self.host.clone(),
            events,
            stop: stop_asked,
            leave: self.leave.clone(),
        };
        let thread = std::sync::Arc::clone(&self.thread);
        let task = self.running.spawn(async move {
            let outcome: TurnOutcome = run.finish().await;
            if let Some(named) = &outcome.thread {
                lock(&thread).clone_from(named);
            }
            let _ = outcome_sender.send(outcome);
            let _ = done_sender.send(true);
        });
        *current = Some(Current { native: native.clone(), stop, done, _task: AbortOnDropHandle::new(task) });
        Ok(TurnHandle { native: Some(native), outcome })
    }

    async fn steer(&self, _turn: &NativeTurn, _input: Vec<Input>) -> Result<(), SteerError> {
        Err(SteerError::Unsupported)
    }

    async fn interrupt(&self, turn: &NativeTurn, grace: Duration) -> Result<InterruptOutcome, RuntimeError> {
        let Some((stop, mut done)) = self.running(turn) else {
            return Ok(InterruptOutcome::AlreadyDone);
        };
        // A full queue holds an earlier interrupt, which does the same.
        let _ = stop.try_send(grace);
        match timeout(grace + END_WAIT, done.wait_for(|done| *done)).await {
            Ok(_) => Ok(InterruptOutcome::Killed),
            Err(_) => Err(RuntimeError::new(ErrClass::Timeout, "the program did not end after SIGKILL")),
        }
    }

    async fn reconcile(&self, key: &TurnKey) -> Result<TurnFate, RuntimeError> {
        let path = TurnDir::of(&self.host, key).child();
        let record = ChildRecord::read(&path)
            .map_err(|error| RuntimeError::new(ErrClass::Protocol, format!("the child record: {error}")))?;
        let Some(record) = record else { return Ok(TurnFate::NeverAccepted) };
        if let Some(pid) = record.pid {
            let native = NativeTurn(pid.to_string());
            if self.running(&native).is_some() {
                return Ok(TurnFate::Running(native));
            }
        }
        match record.kill() {
            Liveness::Alive => Ok(TurnFate::Interrupted { partial: true }),
            Liveness::Gone | Liveness::NeverKnown => Ok(TurnFate::Unknown),
        }
    }

    async fn answer(&self, _permission: PermissionId, _decision: Decision) -> Result<(), RuntimeError> {
        Err(RuntimeError::new(ErrClass::Protocol, "a program asks for no permissions"))
    }

    async fn close(self: Box<Self>) -> Result<(), RuntimeError> {
        let native = lock(&self.current).as_ref().map(|current| current.native.clone());
        if let Some(native) = native {
            self.interrupt(&native, self.host.limits.grace).await?;
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
