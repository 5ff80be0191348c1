//! Whole command lines: parsed, run against a small hub, and read as a user reads them.

mod connectors;
mod errors;
mod fake_hub;
mod forms;
mod guide;
mod help;
mod http;
mod parsing;
mod sends;
mod tokens;
mod turns;
mod vault;
mod views;

use crate::app::run_with;
use crate::environment::Environment;
use fake_hub::FakeHub;

/// What a command left behind.
pub(crate) struct Ran {
    pub(crate) exit: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
    pub(crate) fn code(&self) -> String {
        crate::output::pick::text(&self.json(), "error.code")
    }
}

pub(crate) const ULID: &str = "01arz3ndektsv4rrffq69g5fav";

pub(crate) fn id(prefix: &str) -> String {
    format!("{prefix}_{ULID}")
}

/// Runs words in an environment.
pub(crate) fn run_in(env: Environment, words: &[&str]) -> Ran {
    let arguments: Vec<String> =
        std::iter::once("loom").chain(words.iter().copied()).map(str::to_owned).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run_with(&arguments, env, &mut out, &mut err);
    Ran { exit, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

/// Runs words against a hub.
pub(crate) fn run(hub: &FakeHub, words: &[&str]) -> Ran {
    run_in(hub.environment(), words)
}

/// Runs words where no hub answers.
pub(crate) fn run_alone(words: &[&str]) -> Ran {
    let mut env = Environment::empty();
    env.variables.insert("LOOM_HOME".into(), "/nonexistent-loom-home".into());
    run_in(env, words)
}
