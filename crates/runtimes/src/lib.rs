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
mod error;
pub mod host;
mod runtime;
pub mod turn;

pub use agent::{AgentSpec, Approval, Binding, InputForm, OutputForm, RuntimeKind, RuntimeSettings, Sandbox};
pub use caps::{Dedup, Perm, Probe, RuntimeCaps, Threads, UsageKind};
pub use error::{ErrClass, RuntimeError, StartError, SteerError};
pub use host::{HostCtx, Limits, McpDoor, Redact};
pub use runtime::{AgentRuntime, AgentSession, InterruptOutcome, Opened, OpenedHow, Shutdown, make};
pub use turn::{
    Answer, AnswerSource, ArtifactRef, Decision, Denial, Input, NativeTurn, OutFile, PermissionId,
    PermissionRequest, ToolState, TurnEvent, TurnFate, TurnHandle, TurnKey, TurnOutcome, TurnRequest,
    TurnStatus, Usage,
};
