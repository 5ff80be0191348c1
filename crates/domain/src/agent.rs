//! Agents.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Code, Error, Timestamp, words};

words! {
    /// How an Agent thinks.
    pub enum RuntimeKind {
        /// Codex app-server.
        Codex = "codex",
        /// Any ACP agent.
        Acp = "acp",
        /// Claude Code.
        Claude = "claude",
        /// Any command.
        Command = "command",
        /// An HTTP endpoint.
        Http = "http",
    }
}

words! {
    /// State of an Agent as its owner sees it.
    pub enum AgentState {
        /// No Turn runs.
        Idle = "idle",
        /// A Turn runs.
        Running = "running",
        /// Items queue, no Turn starts.
        Paused = "paused",
        /// Something waits for the owner.
        NeedsAttention = "needs_attention",
        /// Read-only.
        Archived = "archived",
    }
}

words! {
    /// What happens to an item whose Turn was interrupted before any tool call.
    pub enum OnInterrupted {
        /// The owner decides.
        Ask = "ask",
        /// It is queued again.
        Rerun = "rerun",
    }
}

words! {
    /// What happens to a final answer above the chunk limit.
    pub enum OnOversize {
        /// First chunk, the whole as a file.
        File = "file",
        /// The reply is refused.
        Fail = "fail",
    }
}

/// Runtime settings of an Agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSettings {
    /// Kind of runtime.
    pub kind: RuntimeKind,
    /// Model name.
    pub model: Option<String>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Sandbox: `read_only`, `workspace_write` or `full_access`.
    pub sandbox: Option<String>,
    /// Approval: `never`, `ask` or `strict`.
    pub approval: Option<String>,
    /// Endpoint URL of the model provider (codex) or of the agent (http).
    pub endpoint: Option<String>,
    /// Argument vector (command), or the runtime's binary and arguments.
    #[serde(default)]
    pub command: Vec<String>,
}

/// A durable identity with one long-lived Thread on one runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Id.
    pub id: AgentId,
    /// Version, +1 with each change.
    pub version: u64,
    /// Order of commit.
    pub seq: u64,
    /// Unique name, ignoring case.
    pub name: String,
    /// Runtime.
    pub runtime: RuntimeSettings,
    /// Absolute working directory.
    pub cwd: Option<String>,
    /// Owner-authored profile, at most 16 000 bytes.
    #[serde(default)]
    pub profile: String,
    /// Whether the owner paused it.
    #[serde(default)]
    pub paused: bool,
    /// Native thread id of the runtime (opaque).
    pub thread_ref: Option<String>,
    /// +1 on each new Thread.
    #[serde(default)]
    pub thread_generation: u64,
    /// Trust domains whose content the Thread has seen.
    #[serde(default)]
    pub thread_labels: Vec<String>,
    /// Absolute limit of a Turn in seconds.
    pub max_turn_seconds: u64,
    /// Idle limit of a Turn in seconds.
    pub idle_seconds: u64,
    /// What happens to interrupted items.
    pub on_interrupted: OnInterrupted,
    /// What happens to oversized answers.
    pub on_oversize: OnOversize,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
    /// Archive time.
    pub archived_at: Option<Timestamp>,
}

/// Default absolute limit of a Turn, seconds.
pub const MAX_TURN_SECONDS: u64 = 14_400;
/// Default idle limit of a Turn, seconds.
pub const IDLE_SECONDS: u64 = 1_800;
/// Limit of an Agent's profile, bytes.
pub const PROFILE_BYTES_MAX: usize = 16_000;

const NAME_CHARS_MAX: usize = 64;
/// Command words that cannot name an Agent.
pub const RESERVED_NAMES: &[&str] = &[
    "list", "get", "reply", "no-reply", "defer", "retry", "cancel", "refused", "release", "settle", "show",
    "tail", "send", "status", "wait", "resolve", "discover", "set", "enable", "disable", "all",
];

/// Checks a name: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}` and not a command word.
pub fn check_name(name: &str) -> Result<(), Error> {
    if RESERVED_NAMES.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        return Err(Error::new(Code::ReservedName, format!("`{name}` is a command word")));
    }
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let rest = chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if first && rest && name.len() <= NAME_CHARS_MAX {
        return Ok(());
    }
    Err(Error::invalid("name", "use 1 to 64 letters, digits, `_` or `-`, starting with a letter or digit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_021_reserved_names_are_refused() {
        assert_eq!(check_name("retry").unwrap_err().code, Code::ReservedName);
        assert_eq!(check_name("No-Reply").unwrap_err().code, Code::ReservedName);
        assert!(check_name("docs").is_ok());
        assert_eq!(check_name("../x").unwrap_err().code, Code::InvalidArgument);
    }
}
