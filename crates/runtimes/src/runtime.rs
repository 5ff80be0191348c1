//! The contract between the hub and every runtime.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::{
    AgentSpec, Binding, CodexRuntime, CommandRuntime, Decision, ErrClass, HostCtx, Input, NativeTurn,
    PermissionId, Probe, RuntimeCaps, RuntimeError, RuntimeKind, RuntimeSettings, StartError, SteerError,
    TurnEvent, TurnFate, TurnHandle, TurnKey, TurnRequest,
};

/// How a runtime is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Leave detached Turns alone; others end.
    Detach,
    /// Wait this long for running Turns, then stop.
    Drain(Duration),
    /// Stop now.
    Kill,
}

/// How a thread was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenedHow {
    /// It is new.
    Fresh,
    /// It is the bound one.
    Resumed,
    /// The bound one is gone; this is a new one. Audited and shown to the owner.
    FreshAfterLoss {
        /// What the runtime said.
        reason: String,
    },
}

/// An open thread.
pub struct Opened {
    /// The way to talk to it.
    pub session: Box<dyn AgentSession>,
    /// What the host stores.
    pub binding: Binding,
    /// How it was reached.
    pub how: OpenedHow,
}

/// What an interrupt did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptOutcome {
    /// The Turn ended, the process lives.
    Clean,
    /// The process was killed.
    Killed,
    /// There was nothing to stop.
    AlreadyDone,
}

/// One runtime instance.
#[async_trait]
pub trait AgentRuntime: Send + Sync {
    /// Its kind.
    fn kind(&self) -> RuntimeKind;
    /// What it can do.
    fn caps(&self) -> RuntimeCaps;
    /// Finds the version by a handshake. Spends no tokens; takes 10 s at most.
    async fn probe(&self) -> Result<Probe, RuntimeError>;
    /// Attaches to the stored binding or makes a thread. Sends every policy field again, every time.
    async fn open(
        &self,
        agent: &AgentSpec,
        binding: Option<&Binding>,
        host: &HostCtx,
    ) -> Result<Opened, RuntimeError>;
    /// Leaves the runtime.
    async fn shutdown(&self, mode: Shutdown) -> Result<(), RuntimeError>;
}

/// One open thread of one Agent.
#[async_trait]
pub trait AgentSession: Send + Sync {
    /// Starts a Turn. A second one while one runs is `Refused(Busy)`. The adapter keeps both clocks of the
    /// request: when one expires the Turn is interrupted and its outcome is `Interrupted` with class `Timeout`.
    /// `Accepted` is the first event. Events are dropped, never waited for, when `events` is full; a question
    /// that cannot be delivered is denied.
    async fn start_turn(
        &self,
        turn: TurnRequest,
        events: mpsc::Sender<TurnEvent>,
    ) -> Result<TurnHandle, StartError>;
    /// Adds input to a running Turn.
    async fn steer(&self, turn: &NativeTurn, input: Vec<Input>) -> Result<(), SteerError>;
    /// Stops a Turn, by force after the grace.
    async fn interrupt(&self, turn: &NativeTurn, grace: Duration) -> Result<InterruptOutcome, RuntimeError>;
    /// What became of this Turn? Reads history or process state; never runs anything.
    /// `NeverAccepted` counts only if the host has not recorded `Accepted` for the Turn.
    async fn reconcile(&self, key: &TurnKey) -> Result<TurnFate, RuntimeError>;
    /// Answers a permission request, once.
    async fn answer(&self, permission: PermissionId, decision: Decision) -> Result<(), RuntimeError>;
    /// Lets the thread go; a running Turn is stopped.
    async fn close(self: Box<Self>) -> Result<(), RuntimeError>;
}

/// Makes the runtime instance that `settings.kind` names. `host.private_dir` belongs to this instance alone.
pub fn make(
    instance: &str,
    settings: &RuntimeSettings,
    host: &HostCtx,
) -> Result<Arc<dyn AgentRuntime>, RuntimeError> {
    match settings.kind {
        RuntimeKind::Codex => Ok(Arc::new(CodexRuntime::new(instance, settings, host.clone()))),
        RuntimeKind::Command => Ok(Arc::new(CommandRuntime::new(instance, settings, host.clone()))),
        RuntimeKind::Acp | RuntimeKind::Claude | RuntimeKind::Http => {
            Err(RuntimeError::new(ErrClass::Spawn, "this build has no adapter for this kind of runtime")
                .retryable(false))
        }
    }
}
