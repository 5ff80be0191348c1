//! What a command sees of its process; tests make their own.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use loom_domain::Timestamp;

/// Standard input.
pub(crate) struct Stdin {
    /// Whether a person types.
    pub(crate) is_terminal: bool,
    /// The bytes.
    pub(crate) reader: Box<dyn Read + Send>,
}

/// What a command sees of its process.
pub(crate) struct Environment {
    /// Environment variables.
    pub(crate) variables: BTreeMap<String, String>,
    /// Standard input.
    pub(crate) stdin: Stdin,
    /// Whether stdout is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether stderr is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// Columns of the terminal, when there is one.
    pub(crate) columns: Option<usize>,
    /// Start of the command.
    pub(crate) now: Timestamp,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn of_process() -> Self {
        let stdin = io::stdin();
        Environment {
            variables: std::env::vars().collect(),
            stdin: Stdin { is_terminal: stdin.is_terminal(), reader: Box::new(stdin) },
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            columns: terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
            now: now(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The data directory: `LOOM_HOME`, else `$XDG_DATA_HOME/loom`, else `~/.local/share/loom`.
    pub(crate) fn home(&self) -> PathBuf {
        if let Some(home) = self.get("LOOM_HOME") {
            return PathBuf::from(home);
        }
        let data = self.get("XDG_DATA_HOME").map(PathBuf::from);
        data.unwrap_or_else(|| PathBuf::from(self.get("HOME").unwrap_or("/")).join(".local/share"))
            .join("loom")
    }

    /// The hub's socket: `LOOM_SOCKET`, which an Agent is given; else in the data directory, or under a short
    /// name in the runtime directory.
    pub(crate) fn socket(&self) -> PathBuf {
        if let Some(socket) = self.get("LOOM_SOCKET") {
            return PathBuf::from(socket);
        }
        let home = self.home();
        loom_server::socket_path(&home, self.get("XDG_RUNTIME_DIR").map(Path::new))
            .unwrap_or_else(|_| home.join("run").join("loom.sock"))
    }
}

#[expect(clippy::disallowed_methods, reason = "a command shows ages of times and has no hub's clock")]
fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

#[cfg(test)]
impl Environment {
    /// An environment without variables, terminal or input.
    pub(crate) fn empty() -> Self {
        Environment {
            variables: BTreeMap::new(),
            stdin: Stdin { is_terminal: false, reader: Box::new(io::empty()) },
            stdout_is_terminal: false,
            stderr_is_terminal: false,
            columns: None,
            now: Timestamp(1_800_000_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_lies_in_the_data_directory_or_under_a_short_name() {
        let mut env = Environment::empty();
        env.variables.insert("LOOM_HOME".into(), "/h".into());
        assert_eq!(env.socket(), PathBuf::from("/h/run/loom.sock"));
        env.variables.insert("LOOM_HOME".into(), format!("/{}", "h".repeat(120)));
        env.variables.insert("XDG_RUNTIME_DIR".into(), "/run/user/1".into());
        assert!(env.socket().starts_with("/run/user/1/loom"));
        env.variables.insert("LOOM_SOCKET".into(), "/s/hub.sock".into());
        assert_eq!(env.socket(), PathBuf::from("/s/hub.sock"), "what an Agent was given comes first");
    }
}
