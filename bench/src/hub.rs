//! The real program as a child process, with simulated Slacks beside it.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use loom_twins::slack::{Config, SlackTwin};
use serde_json::{Value, json};

/// Longest wait for the hub to answer.
const UP_LIMIT: Duration = Duration::from_secs(60);
/// Longest wait for all Connections.
const CONNECTED_LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(1);

/// A home with a hub in it; both end with it.
pub(crate) struct Hub {
    room: tempfile::TempDir,
    twins: Vec<SlackTwin>,
    child: Option<Child>,
}

/// Where the program is: `LOOM_BIN`, or beside this one.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let path = match std::env::var_os("LOOM_BIN") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe()?.with_file_name("loom"),
    };
    anyhow::ensure!(path.exists(), "no program at {}; set LOOM_BIN", path.display());
    Ok(path)
}

impl Hub {
    /// Makes a home and so many Slacks; nothing is started in it.
    pub(crate) async fn new(connections: usize) -> anyhow::Result<Self> {
        let room = tempfile::tempdir()?;
        std::fs::DirBuilder::new().mode(0o700).create(room.path().join("home"))?;
        let mut twins = Vec::new();
        for n in 0..connections {
            let config = Config {
                app: format!("A{n:04}"),
                bot_tokens: vec![format!("xoxb-{n}-twin")],
                app_tokens: vec![format!("xapp-1-A{n:04}-{n}-twin")],
                ..Config::default()
            };
            twins.push(SlackTwin::start(config).await?);
        }
        let origins: Vec<String> = twins.iter().map(|twin| format!("\"{}\"", twin.origin())).collect();
        let settings = format!("[transport]\nproxy = \"none\"\nlocal_origins = [{}]\n", origins.join(", "));
        std::fs::write(room.path().join("home/loom.toml"), settings)?;
        Ok(Hub { room, twins, child: None })
    }

    /// The home.
    pub(crate) fn home(&self) -> PathBuf {
        self.room.path().join("home")
    }

    /// The hub's process id.
    pub(crate) fn process(&self) -> anyhow::Result<u32> {
        self.child.as_ref().map(Child::id).context("the hub is not up")
    }

    /// A command in the home.
    pub(crate) fn command(&self) -> anyhow::Result<Command> {
        let mut command = Command::new(program()?);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.room.path());
        command.env("LOOM_HOME", self.home()).current_dir(self.room.path());
        for n in 0..self.twins.len() {
            let tokens = json!({"bot_token": format!("xoxb-{n}-twin"), "app_token": format!("xapp-1-A{n:04}-{n}-twin")});
            command.env(format!("SLACK_{n}"), tokens.to_string());
        }
        Ok(command)
    }

    /// Starts the hub and gives the time until it says that it is ready, or at least answers.
    pub(crate) async fn up(&mut self) -> anyhow::Result<(Duration, bool)> {
        let log = std::fs::File::create(self.room.path().join("hub.log"))?;
        let mut command = self.command()?;
        command.arg("up").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let started = Instant::now();
        self.child = Some(command.spawn()?);
        let client = client(&self.home());
        loop {
            match client.get(loom_api::routes::readyz()).run::<Value>().await {
                Ok(_) => return Ok((started.elapsed(), true)),
                // An answer of the hub itself that it is up and not yet ready.
                Err(error) if error.http_status == Some(503) && started.elapsed() > UP_LIMIT / 4 => {
                    return Ok((started.elapsed(), false));
                }
                Err(error) => {
                    let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
                    anyhow::ensure!(ended.is_none(), "the hub ended: {}", self.said());
                    anyhow::ensure!(
                        started.elapsed() < UP_LIMIT,
                        "the hub is not ready: {error}; {}",
                        self.said()
                    );
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Runs a command line that must end well; gives its JSON.
    pub(crate) fn run(&self, words: &[&str]) -> anyhow::Result<Value> {
        let output = self.command()?.args(words).arg("--json").stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "loom {}: {said}", words.join(" "));
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// Makes, enables and connects a Connection to every Slack.
    pub(crate) async fn connect_all(&self) -> anyhow::Result<()> {
        for (n, twin) in self.twins.iter().enumerate() {
            let (app, reference, url) = (format!("A{n:04}"), format!("env:SLACK_{n}"), twin.base_url());
            let words = ["integration", "connect", "slack", "--account", &app, "--scope", "T0001"];
            let more = ["--credential-ref", &reference, "--api-url", &url, "--gateway", "managed"];
            let made = self.run(&[&words[..], &more[..]].concat())?;
            let id = made.pointer("/object/id").and_then(Value::as_str).context("no Connection")?.to_owned();
            self.run(&["integration", "enable", &id])?;
        }
        for twin in &self.twins {
            twin.wait_for_sockets(1, CONNECTED_LIMIT).await?;
        }
        Ok(())
    }

    /// Ends the hub and waits.
    pub(crate) fn down(&mut self) -> anyhow::Result<()> {
        if self.child.is_some() {
            self.run(&["down"])?;
        }
        if let Some(mut child) = self.child.take() {
            child.wait()?;
        }
        Ok(())
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.room.path().join("hub.log")).unwrap_or_default()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn client(home: &Path) -> loom_api::Client {
    loom_api::Client::new(loom_api::Endpoint::Unix(home.join("run/loom.sock")), None)
}
