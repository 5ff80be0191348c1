//! Agent runtimes: how an Agent thinks. One contract and one adapter per kind of runtime.
//!
//! What it is not: it decides no policy, knows no store and no chat platform. Adapters translate.
//!
//! Invariants
//! - A Turn is started once and ended once; no adapter ever runs an input again by itself.
//! - Only [`TurnOutcome::answer`] may leave Loom as a final answer; events are for status alone.
//! - A child process gets an empty environment plus an allow-list, its own session and process group.

pub mod agent;
pub mod caps;
mod clocks;
pub mod codex;
pub mod command;
pub mod conformance;
mod error;
pub mod host;
mod process;
mod runtime;
pub mod turn;
mod turn_dir;

pub use agent::{AgentSpec, Approval, Binding, InputForm, OutputForm, RuntimeKind, RuntimeSettings, Sandbox};
pub use caps::{Dedup, Perm, Probe, RuntimeCaps, Threads, UsageKind};
pub use codex::CodexRuntime;
pub use command::CommandRuntime;
pub use error::{ErrClass, RuntimeError, StartError, SteerError};
pub use host::{HostCtx, Limits, McpDoor, Redact};
pub use runtime::{AgentRuntime, AgentSession, InterruptOutcome, Opened, OpenedHow, Shutdown, make};
pub use turn::{
    Answer, AnswerSource, ArtifactRef, Decision, Denial, Input, NativeTurn, OutFile, PermissionId,
    PermissionRequest, ToolState, TurnEvent, TurnFate, TurnHandle, TurnKey, TurnOutcome, TurnRequest,
    TurnStatus, Usage,
};
pub use turn_dir::{attachment_name, attachment_path};
