//! What a runtime can do.

use serde::Serialize;

/// How a repeated Turn key is treated by the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dedup {
    /// It runs again and leaves no mark.
    None,
    /// The key is kept in the history, but a repeat runs again.
    StoredMarker,
    /// A repeat of a stored key is not run.
    SkipsRepeat,
    /// A repeat gives the first result.
    Idempotent,
}

/// How permissions are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Perm {
    /// There is no such thing.
    None,
    /// Fixed by settings before the start.
    Static,
    /// Asked in the middle of a Turn.
    Interactive,
}

/// Threads that one process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// Many.
    Many,
    /// One.
    One,
}

/// What usage numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageKind {
    /// Of this Turn.
    PerTurn,
    /// Of the thread so far; the adapter differences them.
    Cumulative,
    /// None are given.
    None,
}

/// Capabilities of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the contract, not a state")]
pub struct RuntimeCaps {
    /// A thread outlives its process.
    pub persistent_thread: bool,
    /// A Turn outlives its client.
    pub detached_turns: bool,
    /// Input can be added to a running Turn.
    pub steer: bool,
    /// An interrupt ends the Turn without ending the process.
    pub clean_interrupt: bool,
    /// Loom chooses the thread id.
    pub client_thread_id: bool,
    /// Treatment of a repeated key.
    pub dedup: Dedup,
    /// How permissions are asked.
    pub permissions: Perm,
    /// MCP over stdio.
    pub mcp_stdio: bool,
    /// MCP over HTTP.
    pub mcp_http: bool,
    /// Threads per process.
    pub threads: Threads,
    /// The runtime guards a thread against a second writer.
    pub writer_lock: bool,
    /// What usage numbers mean.
    pub usage: UsageKind,
}

/// What a probe found. It never spends tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Version in the runtime's own words; empty when it has none.
    pub version: String,
    /// Whether the version is one that Loom is tested with.
    pub tested: bool,
}
