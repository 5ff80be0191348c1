//! What the host gives a runtime: directories, environment, the MCP door, limits, the redactor.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Takes secrets out of a text before it is kept or shown.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The Agent's own MCP door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpDoor {
    /// A program spoken to over stdio.
    Stdio {
        /// Program.
        command: PathBuf,
        /// Arguments.
        args: Vec<String>,
        /// Its environment (the LOOM_ variables).
        env: BTreeMap<String, String>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// URL.
        url: String,
        /// File that holds the token.
        token_file: PathBuf,
    },
}

/// Limits of runtime processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest protocol line in bytes.
    pub line_bytes_max: usize,
    /// Longest command output in bytes.
    pub stdout_bytes_max: usize,
    /// Kept end of a command's stderr in bytes.
    pub stderr_tail_bytes: usize,
    /// Files one Turn may hand out.
    pub out_files_max: usize,
    /// Size of one such file in bytes.
    pub out_file_bytes_max: u64,
    /// Wait for one protocol answer.
    pub request_wait: Duration,
    /// Wait for a probe or handshake.
    pub probe_wait: Duration,
    /// Time between a polite stop and a kill.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            line_bytes_max: 16 * 1024 * 1024,
            stdout_bytes_max: 1024 * 1024,
            stderr_tail_bytes: 8 * 1024,
            out_files_max: 8,
            out_file_bytes_max: 25 * 1024 * 1024,
            request_wait: Duration::from_secs(30),
            probe_wait: Duration::from_secs(10),
            grace: Duration::from_secs(10),
        }
    }
}

/// What the host lends to a runtime instance, and again to each thread it opens.
#[derive(Clone)]
pub struct HostCtx {
    /// Private directory (0700) of the instance: HOME, state and scratch. Below it, turns are in `turns/`.
    pub private_dir: PathBuf,
    /// `env` entries of the runtime's configuration, credential references resolved.
    pub env: BTreeMap<String, String>,
    /// Value of PATH for children; configured, not inherited.
    pub path: String,
    /// File (0600) with the Agent's token.
    pub token_file: Option<PathBuf>,
    /// The hub's socket.
    pub socket_path: Option<PathBuf>,
    /// The Agent's MCP door.
    pub mcp: Option<McpDoor>,
    /// Limits.
    pub limits: Limits,
    /// Redactor for everything kept from a child.
    pub redact: Redact,
}

impl HostCtx {
    /// A context with an instance directory, a PATH and nothing else.
    pub fn new(private_dir: PathBuf, path: impl Into<String>) -> Self {
        HostCtx {
            private_dir,
            env: BTreeMap::new(),
            path: path.into(),
            token_file: None,
            socket_path: None,
            mcp: None,
            limits: Limits::default(),
            redact: Arc::new(str::to_owned),
        }
    }
}

impl std::fmt::Debug for HostCtx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostCtx")
            .field("private_dir", &self.private_dir)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
