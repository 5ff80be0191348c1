//! The programs that an agent Turn can be planned for, how each is looked for, and the plan itself.
//!
//! Nothing of a host is started but `BINARY --version`, no file of a host is read or written, and no socket is opened.

mod detect;
mod plan;

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

pub use detect::{Detection, Look};
pub use plan::{HostModePlan, HostOrder, HostOverview, PlannedConnector, PlannedHostProgram, Step, StepKind};

/// Longest name of a host, and longest command of one, in characters.
const NAME_CHARS_MAX: usize = 100;

/// A program that an agent Turn can be planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    /// Codex of `OpenAI`.
    Codex,
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// `OpenCode`.
    Opencode,
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// Any program that reads stdin and writes stdout.
    Generic,
    /// A service.
    Http,
}

impl HostKind {
    /// All of them, in the order they are listed.
    pub const ALL: [HostKind; 6] = [
        HostKind::Codex,
        HostKind::ClaudeCode,
        HostKind::Opencode,
        HostKind::Acp,
        HostKind::Generic,
        HostKind::Http,
    ];

    /// The host of an id or of its other name; any other is `usage`.
    pub fn parse(text: &str) -> Result<Self> {
        let found = HostKind::ALL.into_iter().find(|kind| kind.id() == text || kind.alias() == Some(text));
        found.ok_or_else(|| {
            let text: String = text.chars().take(NAME_CHARS_MAX).collect();
            let nearest = crate::catalog::nearest_words(&text, HostKind::ALL.into_iter().map(HostKind::id));
            Error::new(Code::Usage, format!("no host {text:?}"))
                .with_hint("hosts: codex, claude-code, opencode, acp, generic, http")
                .with_detail("nearest", nearest)
        })
    }

    /// Its id.
    pub const fn id(self) -> &'static str {
        match self {
            HostKind::Codex => "codex",
            HostKind::ClaudeCode => "claude-code",
            HostKind::Opencode => "opencode",
            HostKind::Acp => "acp",
            HostKind::Generic => "generic",
            HostKind::Http => "http",
        }
    }

    const fn alias(self) -> Option<&'static str> {
        match self {
            HostKind::Codex => Some("codex-cli"),
            HostKind::ClaudeCode => Some("claude"),
            HostKind::Generic => Some("generic-cli"),
            _ => None,
        }
    }

    /// The connector that every Turn of this host goes through, whatever its mode.
    pub const fn connector(self) -> &'static str {
        match self {
            HostKind::Codex => "host_codex",
            HostKind::ClaudeCode => "host_claude_code",
            HostKind::Opencode => "host_opencode",
            HostKind::Acp => "host_acp",
            HostKind::Generic => "host_generic",
            HostKind::Http => "host_http",
        }
    }

    /// The program that is looked for when the owner names none.
    const fn binary(self) -> Option<&'static str> {
        match self {
            HostKind::Codex => Some("codex"),
            HostKind::ClaudeCode => Some("claude"),
            HostKind::Opencode => Some("opencode"),
            HostKind::Acp | HostKind::Generic | HostKind::Http => None,
        }
    }

    /// What Loom speaks with it.
    pub const fn handshake(self) -> &'static str {
        match self {
            HostKind::Codex => "app-server",
            HostKind::ClaudeCode => "stream JSON",
            HostKind::Opencode => "ACP or HTTP",
            HostKind::Acp => "ACP 1",
            HostKind::Generic => "stdin/stdout",
            HostKind::Http => "HTTP",
        }
    }

    /// The oldest version that was tested.
    const fn tested(self) -> Option<&'static str> {
        match self {
            HostKind::Codex => Some("0.171.0"),
            HostKind::ClaudeCode => Some("2.1.332"),
            HostKind::Opencode => Some("1.18.33"),
            HostKind::Acp | HostKind::Generic | HostKind::Http => None,
        }
    }
}

/// What the owner wants of a Turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// See each Turn while it runs.
    WatchEachTurn,
    /// Go on with nobody watching.
    ContinueWithoutUi,
    /// Begin with what comes in from a chat platform.
    IntakeFromChat,
    /// Stay alive by a timer.
    TimerKeepalive,
    /// Change the mode while the work goes on.
    EscalateBetweenModes,
}

/// How a Turn is kept going.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In sight of the owner.
    Visible,
    /// Without anybody watching.
    #[default]
    Headless,
    /// By the gateway of a chat platform.
    Gateway,
    /// By a timer.
    Service,
    /// From one mode to another.
    Handoff,
}

impl Mode {
    /// The mode that fits the intents; intents of different modes need a hand-over.
    pub fn of(intents: &[Intent]) -> Self {
        let mut modes = intents.iter().map(|intent| match intent {
            Intent::WatchEachTurn => Mode::Visible,
            Intent::ContinueWithoutUi => Mode::Headless,
            Intent::IntakeFromChat => Mode::Gateway,
            Intent::TimerKeepalive => Mode::Service,
            Intent::EscalateBetweenModes => Mode::Handoff,
        });
        let first = modes.next().unwrap_or_default();
        if modes.all(|mode| mode == first) { first } else { Mode::Handoff }
    }
}

#[cfg(test)]
mod tests;
