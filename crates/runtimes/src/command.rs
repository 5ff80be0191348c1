//! The `command` runtime: a program that is run once per Turn.
//!
//! What it is not: it is no shell. Program and arguments are a list; nothing is expanded but `{thread}`.

mod input;
mod output;
mod run;
mod session;
#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::process::make_private_dir;
use crate::{
    AgentRuntime, AgentSpec, Binding, Dedup, ErrClass, HostCtx, Opened, OpenedHow, Perm, Probe, RuntimeCaps,
    RuntimeError, RuntimeKind, RuntimeSettings, Shutdown, Threads, UsageKind,
};

use session::CommandSession;

/// Wait for killed programs to end.
const END_WAIT: Duration = Duration::from_secs(5);

/// Runs a program per Turn.
pub struct CommandRuntime {
    instance: String,
    settings: RuntimeSettings,
    host: HostCtx,
    stop: CancellationToken,
    running: TaskTracker,
}

impl CommandRuntime {
    /// Makes an instance; nothing is started.
    pub fn new(instance: &str, settings: &RuntimeSettings, host: HostCtx) -> Self {
        let settings = settings.clone();
        CommandRuntime {
            instance: instance.to_owned(),
            settings,
            host,
            stop: CancellationToken::new(),
            running: TaskTracker::new(),
        }
    }
}

#[async_trait]
impl AgentRuntime for CommandRuntime {
    fn kind(&self) -> RuntimeKind {
        RuntimeKind::Command
    }

    fn caps(&self) -> RuntimeCaps {
        RuntimeCaps {
            persistent_thread: !self.settings.resume_argv.is_empty(),
            detached_turns: false,
            steer: false,
            clean_interrupt: false,
            client_thread_id: false,
            dedup: Dedup::None,
            permissions: Perm::Static,
            mcp_stdio: false,
            mcp_http: false,
            threads: Threads::One,
            writer_lock: false,
            usage: UsageKind::PerTurn,
        }
    }

    async fn probe(&self) -> Result<Probe, RuntimeError> {
        // Running the program could spend tokens, so only its presence is checked.
        let Some(program) = self.settings.argv.first() else {
            return Err(RuntimeError::new(ErrClass::Spawn, "no program is configured").retryable(false));
        };
        if crate::process::find(program, &self.host.path).is_none() {
            let message = format!("there is no program {program} to run");
            return Err(RuntimeError::new(ErrClass::Spawn, message).retryable(false));
        }
        Ok(Probe { version: String::new(), tested: true })
    }

    async fn open(
        &self,
        agent: &AgentSpec,
        binding: Option<&Binding>,
        host: &HostCtx,
    ) -> Result<Opened, RuntimeError> {
        for folder in [host.private_dir.clone(), host.private_dir.join("tmp")] {
            make_private_dir(&folder).map_err(|error| {
                RuntimeError::new(ErrClass::Spawn, format!("the private directory: {error}"))
            })?;
        }
        let thread = binding.map(|bound| bound.thread_id.clone()).unwrap_or_default();
        let how = if thread.is_empty() { OpenedHow::Fresh } else { OpenedHow::Resumed };
        let binding = Binding {
            kind: RuntimeKind::Command,
            thread_id: thread.clone(),
            instance: self.instance.clone(),
        };
        let session = CommandSession::new(
            agent.clone(),
            host.clone(),
            thread,
            self.stop.child_token(),
            self.running.clone(),
        );
        Ok(Opened { session: Box::new(session), binding, how })
    }

    async fn shutdown(&self, mode: Shutdown) -> Result<(), RuntimeError> {
        self.running.close();
        if let Shutdown::Drain(time) = mode {
            run::idle_within(&self.running, time).await;
        }
        self.stop.cancel();
        run::idle_within(&self.running, END_WAIT).await;
        Ok(())
    }
}
