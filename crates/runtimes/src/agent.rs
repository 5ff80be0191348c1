//! What the host says about an Agent when it opens a thread for it.

use std::path::PathBuf;

use loom_domain::AgentId;
use serde::{Deserialize, Serialize};

/// The kinds of runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeKind {
    /// Codex over its app-server.
    Codex,
    /// An Agent Client Protocol peer.
    Acp,
    /// Claude Code without its terminal.
    Claude,
    /// A program run once per Turn.
    Command,
    /// A service reached over HTTP.
    Http,
}

/// What a runtime's own tools may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Read files only.
    #[default]
    ReadOnly,
    /// Write below the working directory.
    WorkspaceWrite,
    /// No sandbox.
    FullAccess,
}

/// When a runtime asks before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Never asks; what the sandbox forbids fails.
    #[default]
    Never,
    /// Asks when the model wants more than the sandbox gives.
    Ask,
    /// Asks for everything that is not known to be harmless.
    Strict,
}

/// Form of a command's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputForm {
    /// The envelope as text.
    #[default]
    Text,
    /// One `loom_turn_input_v1` object.
    Json,
}

/// Form of a command's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// Everything printed is the answer.
    #[default]
    Text,
    /// Exactly one result object.
    Json,
}

/// Settings of a named runtime (configuration, `snake_case`). Only the fields of its kind matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSettings {
    /// Which adapter.
    pub kind: RuntimeKind,
    /// Program and arguments; never a shell line. For codex only the program (default `codex`).
    #[serde(default)]
    pub argv: Vec<String>,
    /// command: used instead of `argv` once a thread is known; `{thread}` is replaced by its id.
    #[serde(default)]
    pub resume_argv: Vec<String>,
    /// command: form of standard input.
    #[serde(default)]
    pub input: InputForm,
    /// command: form of standard output.
    #[serde(default)]
    pub output: OutputForm,
    /// Model name.
    #[serde(default)]
    pub model: Option<String>,
    /// Reasoning effort, in the runtime's own words.
    #[serde(default)]
    pub effort: Option<String>,
    /// What tools may touch.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// When the runtime asks.
    #[serde(default)]
    pub approval: Approval,
    /// Base URL of a model provider of one's own (codex: Responses dialect, with `/v1`).
    #[serde(default)]
    pub endpoint: Option<String>,
    /// Name of the variable in `env` that holds the key of `endpoint`.
    #[serde(default)]
    pub endpoint_key_env: Option<String>,
}

impl RuntimeSettings {
    /// Settings of a kind with every default.
    pub fn new(kind: RuntimeKind) -> Self {
        RuntimeSettings {
            kind,
            argv: Vec::new(),
            resume_argv: Vec::new(),
            input: InputForm::default(),
            output: OutputForm::default(),
            model: None,
            effort: None,
            sandbox: Sandbox::default(),
            approval: Approval::default(),
            endpoint: None,
            endpoint_key_env: None,
        }
    }
}

/// One Agent as its runtime sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// Loom's id of the Agent.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// How it thinks.
    pub runtime: RuntimeSettings,
    /// Working directory of its tools.
    pub cwd: PathBuf,
    /// Standing instructions; sent again at every open.
    pub profile: Option<String>,
}

/// The native thread an Agent is bound to. The host stores it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Kind of the runtime that made it.
    pub kind: RuntimeKind,
    /// Id in the runtime's own words. Empty until the runtime names one.
    pub thread_id: String,
    /// Name of the runtime instance that holds the thread.
    pub instance: String,
}
