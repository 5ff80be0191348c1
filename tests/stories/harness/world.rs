//! A home, a simulated Slack, and the program between them.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use loom_twins::slack::{Config, SlackTwin};
use nix::sys::signal::Signal;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::poll::{SOON, eventually};
use super::{HubProcess, Output};

/// The bot token of a twin with default settings.
pub(crate) const BOT_TOKEN: &str = "xoxb-1-twin";
/// Longest run of one command line.
const COMMAND_LIMIT: Duration = Duration::from_secs(90);
/// The twin's retries after an event was not acknowledged: at once, then 3 s and 15 s.
const TIME_SCALE: f64 = 0.05;
const ACK_WINDOW: Duration = Duration::from_secs(3);

/// What a world is made of.
pub(crate) struct Setup {
    pub(crate) slack: Config,
    /// Lines added to `loom.toml`, sections and all.
    pub(crate) settings: String,
    /// `listen.address`.
    pub(crate) listen: String,
    /// Further variables of the hub.
    pub(crate) variables: Vec<(String, String)>,
}

impl Default for Setup {
    fn default() -> Self {
        let slack = Config { time_scale: TIME_SCALE, ack_window: Some(ACK_WINDOW), ..Config::default() };
        Setup { slack, settings: String::new(), listen: String::new(), variables: Vec::new() }
    }
}

/// A home with its hub, and the Slack it talks to. Everything ends with it.
pub(crate) struct World {
    pub(crate) twin: SlackTwin,
    pub(crate) hub: Option<HubProcess>,
    room: tempfile::TempDir,
    variables: BTreeMap<String, String>,
    starts: u32,
    said: Mutex<String>,
}

impl World {
    /// Makes a private home; the hub is not started.
    pub(crate) async fn new(setup: Setup) -> Self {
        let credential = serde_json::json!({
            "bot_token": setup.slack.bot_tokens[0],
            "app_token": setup.slack.app_tokens[0],
        });
        let twin = SlackTwin::start(setup.slack).await.unwrap();
        let room = tempfile::tempdir().unwrap();
        std::fs::DirBuilder::new().mode(0o700).create(room.path().join("home")).unwrap();
        for folder in ["work", "logs"] {
            std::fs::create_dir(room.path().join(folder)).unwrap();
        }
        let settings = format!(
            "[listen]\naddress = \"{}\"\n[transport]\nproxy = \"none\"\nlocal_origins = [\"{}\"]\n{}\n",
            setup.listen,
            twin.origin(),
            setup.settings
        );
        std::fs::write(room.path().join("home/loom.toml"), settings).unwrap();
        let mut variables: BTreeMap<_, _> = setup.variables.into_iter().collect();
        variables.insert("SLACK_TWIN".into(), credential.to_string());
        World { twin, hub: None, room, variables, starts: 0, said: Mutex::default() }
    }

    /// The home.
    pub(crate) fn home(&self) -> PathBuf {
        self.room.path().join("home")
    }

    /// Everything of this world on disk: home, logs, and the folder that commands and Agents work in.
    pub(crate) fn room(&self) -> &Path {
        self.room.path()
    }

    /// The folder that commands and Agents work in.
    pub(crate) fn work(&self) -> PathBuf {
        self.room.path().join("work")
    }

    /// A command with nothing of the test's own environment.
    fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loom"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.room());
        command.env("LOOM_HOME", self.home()).current_dir(self.work());
        command
    }

    /// Runs a command line to its end.
    pub(crate) async fn loom(&self, words: &[&str]) -> Output {
        self.loom_with(words, b"", &[]).await
    }

    /// The same with the words of one line; none of them may hold a space.
    pub(crate) async fn line(&self, line: &str) -> Output {
        self.loom(&line.split_whitespace().collect::<Vec<_>>()).await
    }

    /// Runs a command line with bytes on standard input and variables of its own.
    pub(crate) async fn loom_with(&self, words: &[&str], input: &[u8], env: &[(&str, &str)]) -> Output {
        let mut command = self.program();
        command.args(words).envs(env.iter().copied()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that reads nothing may be gone already.
        drop(stdin.write_all(input).await);
        drop(stdin);
        let ended = timeout(COMMAND_LIMIT, child.wait_with_output()).await;
        let ended = ended.unwrap_or_else(|_| panic!("`loom {}` did not end", words.join(" "))).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let output = Output {
            line: words.join(" "),
            code: ended.status.code().unwrap_or(-1),
            stdout: text(&ended.stdout),
            stderr: text(&ended.stderr),
        };
        self.said.lock().unwrap().push_str(&output.to_string());
        output
    }

    /// Everything that command lines printed so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Starts the hub and waits until it answers.
    pub(crate) async fn up(&mut self) {
        self.up_with(&[]).await;
    }

    /// Starts the hub with further variables and waits until it answers.
    pub(crate) async fn up_with(&mut self, env: &[(&str, &str)]) {
        let answers = self.try_up_with(env).await;
        assert!(answers, "the hub ended at its start: {}", self.hub.as_ref().unwrap().said());
    }

    /// Starts the hub; false if it ended before it answered.
    pub(crate) async fn try_up_with(&mut self, env: &[(&str, &str)]) -> bool {
        self.spawn(env);
        let client = self.client();
        let mut hub = self.hub.take().unwrap();
        let deadline = tokio::time::Instant::now() + SOON;
        let answers = loop {
            if client.get(loom_api::routes::status()).run::<serde_json::Value>().await.is_ok() {
                break true;
            }
            if hub.ended().is_some() {
                break false;
            }
            assert!(tokio::time::Instant::now() < deadline, "the hub never answered: {}", hub.said());
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        self.hub = Some(hub);
        answers
    }

    /// Starts another long-lived command; both its streams go to a log.
    pub(crate) fn spawn_line(&self, words: &[&str], log: &str) -> HubProcess {
        let mut command = self.program();
        command.args(words);
        HubProcess::spawn(command, &self.room().join("logs").join(log))
    }

    /// Starts the hub and waits for nothing.
    pub(crate) fn spawn(&mut self, env: &[(&str, &str)]) {
        self.starts += 1;
        let log = self.room().join(format!("logs/hub-{}.log", self.starts));
        let mut command = self.program();
        command.arg("up").envs(&self.variables).envs(env.iter().copied());
        self.hub = Some(HubProcess::spawn(command, &log));
    }

    /// Ends the hub as a power cut does.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut hub) = self.hub.take() {
            if hub.ended().is_none() {
                hub.signal(Signal::SIGKILL);
            }
            hub.wait().await;
        }
    }

    /// Asks the hub to end by SIGTERM; gives its exit status.
    pub(crate) async fn terminate(&mut self) -> i32 {
        let mut hub = self.hub.take().unwrap();
        hub.signal(Signal::SIGTERM);
        hub.wait().await
    }

    /// How often the hub was started.
    pub(crate) fn starts(&self) -> u32 {
        self.starts
    }

    /// Waits until a Connection proves itself connected.
    pub(crate) async fn connected(&self, connection: &str) {
        let words = ["integration", "status", connection, "--json"];
        eventually("a connected Connection", SOON, || async {
            let shown = self.loom(&words).await;
            (shown.code == 0 && shown.json()["state"] == "connected").then_some(())
        })
        .await;
    }
}
