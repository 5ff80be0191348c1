//! The `codex` runtime: one `codex app-server` per instance, spoken to in JSON lines over stdio.
//!
//! What it is not: it never answers a permission by itself, and never says "always".
//! Wire facts were observed with the version in [`TESTED_VERSION`].

mod classify;
mod config;
mod connection;
mod history;
mod open;
mod permission;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod turn;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::{
    AgentRuntime, AgentSpec, Binding, Dedup, HostCtx, Opened, Perm, Probe, RuntimeCaps, RuntimeError,
    RuntimeKind, RuntimeSettings, Shutdown, Threads, UsageKind,
};

use server::AppServer;

/// The version that Loom is tested with.
pub const TESTED_VERSION: &str = "0.171.0";

/// A codex instance.
pub struct CodexRuntime {
    shared: Arc<Shared>,
}

/// What the runtime and its sessions share.
struct Shared {
    instance: String,
    settings: RuntimeSettings,
    host: HostCtx,
    server: Mutex<Option<Arc<AppServer>>>,
    running: TaskTracker,
}

impl Shared {
    /// The living process, started when there is none.
    async fn server(&self) -> Result<Arc<AppServer>, RuntimeError> {
        let mut slot = self.server.lock().await;
        if let Some(server) = slot.as_ref().filter(|server| server.connection.is_open()) {
            return Ok(Arc::clone(server));
        }
        // The old process must be gone before its threads are opened again.
        if let Some(old) = slot.take() {
            old.kill().await;
        }
        let server = Arc::new(AppServer::start(&self.settings, &self.host).await?);
        *slot = Some(Arc::clone(&server));
        Ok(server)
    }
}

impl CodexRuntime {
    /// Makes an instance; the process starts when it is first needed.
    pub fn new(instance: &str, settings: &RuntimeSettings, host: HostCtx) -> Self {
        let shared = Shared {
            instance: instance.to_owned(),
            settings: settings.clone(),
            host,
            server: Mutex::new(None),
            running: TaskTracker::new(),
        };
        CodexRuntime { shared: Arc::new(shared) }
    }

    /// Process id of the app-server, when one runs.
    pub async fn process_id(&self) -> Option<u32> {
        let slot = self.shared.server.lock().await;
        slot.as_ref().filter(|server| server.connection.is_open()).map(|server| server.child_id)
    }
}

#[async_trait]
impl AgentRuntime for CodexRuntime {
    fn kind(&self) -> RuntimeKind {
        RuntimeKind::Codex
    }

    fn caps(&self) -> RuntimeCaps {
        RuntimeCaps {
            persistent_thread: true,
            detached_turns: false,
            steer: true,
            clean_interrupt: true,
            client_thread_id: false,
            dedup: Dedup::StoredMarker,
            permissions: Perm::Interactive,
            mcp_stdio: true,
            mcp_http: true,
            threads: Threads::Many,
            writer_lock: true,
            usage: UsageKind::Cumulative,
        }
    }

    async fn probe(&self) -> Result<Probe, RuntimeError> {
        let version = self.shared.server().await?.version.clone();
        let tested = version == TESTED_VERSION;
        Ok(Probe { version, tested })
    }

    async fn open(
        &self,
        agent: &AgentSpec,
        binding: Option<&Binding>,
        host: &HostCtx,
    ) -> Result<Opened, RuntimeError> {
        open::open(&self.shared, agent, binding, host).await
    }

    async fn shutdown(&self, mode: Shutdown) -> Result<(), RuntimeError> {
        if let Shutdown::Drain(time) = mode {
            self.shared.running.close();
            let _ = timeout(time, self.shared.running.wait()).await;
            self.shared.running.reopen();
        }
        let server = self.shared.server.lock().await.take();
        if let Some(server) = server {
            let politely = if mode == Shutdown::Kill { Duration::ZERO } else { server::END_WAIT };
            server.stop(politely).await;
        }
        Ok(())
    }
}
