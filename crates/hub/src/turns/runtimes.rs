//! The runtimes of Agents: one instance per Agent, made at first use and kept while its settings stand.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Agent, Code, Error, Result};
use loom_runtimes::{
    AgentRuntime, AgentSpec, Approval, Binding, HostCtx, RuntimeError, RuntimeKind, RuntimeSettings, Sandbox,
    Shutdown, make,
};
use loom_secrets::Profile;

use crate::hub::Parts;

/// Time a runtime has to end.
const SHUTDOWN: Duration = Duration::from_secs(10);

struct Entry {
    settings: loom_domain::RuntimeSettings,
    runtime: Arc<dyn AgentRuntime>,
}

/// The runtimes of this hub.
pub(crate) struct Registry {
    root: PathBuf,
    path: String,
    socket: PathBuf,
    redact: loom_runtimes::Redact,
    entries: Mutex<HashMap<String, Entry>>,
}

impl Registry {
    pub(crate) fn new(parts: &Parts) -> Self {
        let redactor = parts.redactor.clone();
        Registry {
            root: parts.home.join("runtimes"),
            path: parts.config.runtimes.path.clone(),
            socket: parts.socket.clone(),
            redact: Arc::new(move |text| redactor.redact(text, Profile::Store).into_owned()),
            entries: Mutex::default(),
        }
    }

    /// What an Agent's runtime is given.
    pub(crate) fn host(&self, agent: &Agent) -> Result<HostCtx> {
        use std::os::unix::fs::DirBuilderExt as _;
        let private_dir = self.root.join(agent.id.as_str());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&private_dir).map_err(|cause| {
            Error::new(Code::HubReadOnly, format!("the runtime's directory cannot be made: {cause}"))
        })?;
        let mut host = HostCtx::new(private_dir, self.path.clone());
        host.env = BTreeMap::from([("LOOM_AGENT_ID".to_owned(), agent.id.to_string())]);
        host.socket_path = Some(self.socket.clone());
        host.redact = self.redact.clone();
        Ok(host)
    }

    /// The runtime of an Agent; a change of its settings makes a new one at the Turn boundary.
    pub(crate) fn of(&self, agent: &Agent) -> Result<Arc<dyn AgentRuntime>> {
        let host = self.host(agent)?;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(agent.id.as_str())
            && entry.settings == agent.runtime
        {
            return Ok(entry.runtime.clone());
        }
        let settings = settings_of(agent)?;
        let runtime = make(agent.id.as_str(), &settings, &host).map_err(|error| unavailable(&error))?;
        let entry = Entry { settings: agent.runtime.clone(), runtime: runtime.clone() };
        entries.insert(agent.id.to_string(), entry);
        Ok(runtime)
    }

    /// Ends every runtime.
    pub(crate) async fn shutdown(&self) {
        let all: Vec<_> = {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.drain().map(|(_, entry)| entry.runtime).collect()
        };
        for runtime in all {
            let _ = tokio::time::timeout(SHUTDOWN, runtime.shutdown(Shutdown::Kill)).await;
        }
    }
}

/// A runtime's error as the API tells it.
pub(crate) fn unavailable(error: &RuntimeError) -> Error {
    Error::new(Code::InvalidState, format!("the runtime is not available: {}", error.message))
}

/// Settings of an Agent in the runtimes' own words.
pub(crate) fn settings_of(agent: &Agent) -> Result<RuntimeSettings> {
    let stored = &agent.runtime;
    let kind = match stored.kind {
        loom_domain::RuntimeKind::Codex => RuntimeKind::Codex,
        loom_domain::RuntimeKind::Acp => RuntimeKind::Acp,
        loom_domain::RuntimeKind::Claude => RuntimeKind::Claude,
        loom_domain::RuntimeKind::Command => RuntimeKind::Command,
        loom_domain::RuntimeKind::Http => RuntimeKind::Http,
    };
    let mut settings = RuntimeSettings::new(kind);
    settings.argv.clone_from(&stored.command);
    settings.model.clone_from(&stored.model);
    settings.effort.clone_from(&stored.effort);
    settings.endpoint.clone_from(&stored.endpoint);
    settings.sandbox = match stored.sandbox.as_deref() {
        None | Some("workspace_write") => Sandbox::WorkspaceWrite,
        Some("read_only") => Sandbox::ReadOnly,
        Some("full_access") => Sandbox::FullAccess,
        Some(_) => {
            return Err(Error::invalid("sandbox", "expected read_only, workspace_write or full_access"));
        }
    };
    settings.approval = match stored.approval.as_deref() {
        None | Some("never") => Approval::Never,
        Some("ask") => Approval::Ask,
        Some("strict") => Approval::Strict,
        Some(_) => return Err(Error::invalid("approval", "expected never, ask or strict")),
    };
    Ok(settings)
}

/// What a runtime is told about an Agent.
pub(crate) fn spec_of(agent: &Agent, host: &HostCtx) -> Result<AgentSpec> {
    Ok(AgentSpec {
        id: agent.id.clone(),
        name: agent.name.clone(),
        runtime: settings_of(agent)?,
        cwd: agent.cwd.as_ref().map_or_else(|| host.private_dir.clone(), PathBuf::from),
        profile: Some(agent.profile.clone()).filter(|p| !p.is_empty()),
    })
}

/// The stored native thread of an Agent.
pub(crate) fn binding_of(agent: &Agent, settings: &RuntimeSettings) -> Option<Binding> {
    let thread_id = agent.thread_ref.clone()?;
    Some(Binding { kind: settings.kind, thread_id, instance: agent.id.to_string() })
}
