//! The runtimes of Agents: one instance per Agent, made at first use and kept while its settings stand.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_domain::{Agent, AgentId, Code, Error, Principal, Result, Timestamp, TokenId};
use loom_runtimes::{
    AgentRuntime, AgentSpec, Approval, Binding, HostCtx, RuntimeError, RuntimeKind, RuntimeSettings, Sandbox,
    Shutdown, make,
};
use loom_secrets::{Profile, Secret};
use loom_store::{StoreUrl, ops::tokens::Token};

use crate::hub::{Hub, Parts};
use crate::token::{SECRET_BYTES, TokenKind, mint};

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
    /// Token of each Agent's runtime processes, void when this hub ends.
    tokens: tokio::sync::Mutex<HashMap<AgentId, (TokenId, Timestamp)>>,
    /// The newest tokens of each Agent, which the redactor knows.
    masked: Mutex<HashMap<AgentId, VecDeque<Secret>>>,
}

/// Longest life of a runtime's token.
const TOKEN_MS: i64 = 24 * 3_600_000;
/// Tokens of an Agent that are masked: the live one, and the one before, which a process that still runs may show.
const MASKED_MAX: usize = 2;
const TOKEN_FILE: &str = "token";
const TOKEN_KIND: &str = "agent";

impl Registry {
    pub(crate) fn new(parts: &Parts) -> Self {
        let redactor = parts.redactor.clone();
        Registry {
            root: parts.home.join("runtimes"),
            path: parts.config.runtimes.path.clone(),
            socket: parts.socket.clone(),
            redact: Arc::new(move |text| redactor.redact(text, Profile::Store).into_owned()),
            entries: Mutex::default(),
            tokens: tokio::sync::Mutex::default(),
            masked: Mutex::default(),
        }
    }

    /// What an Agent's runtime is given.
    pub(crate) fn host(&self, agent: &Agent) -> Result<HostCtx> {
        use std::os::unix::fs::DirBuilderExt as _;
        let private_dir = self.root.join(agent.id.as_str());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&private_dir).map_err(|cause| {
            Error::new(Code::HubReadOnly, format!("the runtime's directory cannot be made: {cause}"))
        })?;
        let path = format!("{}:{}", own_name(&private_dir)?.display(), self.path);
        let token_file = private_dir.join(TOKEN_FILE);
        let mut host = HostCtx::new(private_dir, path);
        host.token_file = Some(token_file);
        host.env = BTreeMap::from([("LOOM_AGENT_ID".to_owned(), agent.id.to_string())]);
        host.socket_path = Some(self.socket.clone());
        host.redact = self.redact.clone();
        Ok(host)
    }

    /// The runtime of an Agent; a change of its settings makes a new one at the Turn boundary.
    pub(crate) fn of(&self, agent: &Agent, host: &HostCtx) -> Result<Arc<dyn AgentRuntime>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(agent.id.as_str())
            && entry.settings == agent.runtime
        {
            return Ok(entry.runtime.clone());
        }
        let settings = settings_of(agent)?;
        let runtime = make(agent.id.as_str(), &settings, host).map_err(|error| unavailable(&error))?;
        let entry = Entry { settings: agent.runtime.clone(), runtime: runtime.clone() };
        entries.insert(agent.id.to_string(), entry);
        Ok(runtime)
    }

    /// Makes sure that the Agent's runtime can act as the Agent, and as nobody else.
    pub(crate) async fn ensure_token(&self, hub: &Hub, agent: &Agent) -> Result<()> {
        let mut tokens = self.tokens.lock().await;
        let act = hub.act(Principal::Hub);
        if tokens.get(&agent.id).is_some_and(|(_, made)| act.now.since_ms(*made) < TOKEN_MS / 2) {
            return Ok(());
        }
        for old in hub.store().tokens_of(agent.id.to_string(), false).await? {
            hub.store().revoke_token(act.clone(), old.id).await?;
        }
        let mut random = [0; SECRET_BYTES];
        for half in random.chunks_mut(SECRET_BYTES / 2) {
            half.copy_from_slice(&(act.entropy)().to_ne_bytes());
        }
        let minted = mint(TokenKind::Person, TokenId::new(act.now.0, (act.entropy)()), &random);
        self.mask(hub, &agent.id, Secret::new(minted.value.clone()));
        let host = self.host(agent)?;
        let file = host.token_file.ok_or_else(|| Error::internal("a runtime without a token file"))?;
        loom_secrets::private_file::write_private(&file, minted.value.as_bytes())?;
        let expires_at = Some(act.now.plus_ms(TOKEN_MS));
        let token = Token {
            id: minted.id.clone(),
            seq: 0,
            kind: TOKEN_KIND.to_owned(),
            subject: agent.id.to_string(),
            sha256: hex::encode(minted.sha256),
            scopes: Vec::new(),
            created_at: act.now,
            expires_at,
            revoked_at: None,
        };
        let made = act.now;
        hub.store().put_token(act, token).await?;
        tokens.insert(agent.id.clone(), (minted.id, made));
        Ok(())
    }

    /// Lets the redactor know a new token, and forget those that no process can hold any more.
    fn mask(&self, hub: &Hub, agent: &AgentId, token: Secret) {
        hub.redactor().register(&token);
        let mut masked = self.masked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = masked.entry(agent.clone()).or_default();
        known.push_back(token);
        while known.len() > MASKED_MAX {
            known.pop_front().iter().for_each(|old| hub.redactor().forget(old));
        }
    }

    /// Takes back what an earlier process made. Several hubs may share a PostgreSQL store; there each Agent's old
    /// token ends when its next one is made.
    pub(crate) async fn revoke_earlier_tokens(&self, hub: &Hub) {
        if hub.store().config().url != StoreUrl::Sqlite {
            return;
        }
        let mut tokens = self.tokens.lock().await;
        match hub.store().revoke_kind(hub.act(Principal::Hub), TOKEN_KIND.to_owned()).await {
            // Dispatch that is started again finds tokens of this process too; they are made anew.
            Ok(_) => tokens.clear(),
            Err(error) => tracing::warn!("old tokens of runtimes were not revoked: {error}"),
        }
    }

    /// Takes every runtime's token back.
    pub(crate) async fn revoke_tokens(&self, hub: &Hub) {
        for (_, (token, _)) in self.tokens.lock().await.drain() {
            let _ = hub.store().revoke_token(hub.act(Principal::Hub), token).await;
        }
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

/// A folder in which this program stands under its bare name, first in a runtime's `PATH`.
fn own_name(private_dir: &Path) -> Result<PathBuf> {
    let folder = private_dir.join("bin");
    let failed = |cause: std::io::Error| {
        Error::new(Code::HubReadOnly, format!("the runtime's directory cannot be made: {cause}"))
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let (program, link) = (std::env::current_exe().map_err(failed)?, folder.join("loom"));
    if std::fs::read_link(&link).ok().as_deref() != Some(program.as_path()) {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&program, &link).map_err(failed)?;
    }
    Ok(folder)
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
