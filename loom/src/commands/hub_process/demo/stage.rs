//! The stage: a temporary home, a simulated Slack, the hub as a child process, and a client to ask it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use loom_api::{Client, Endpoint, routes};
use loom_domain::{Error, Result};
use loom_twins::slack::{Config, SlackTwin};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

const START: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(20);
const CREDENTIAL: &str = "LOOM_DEMO_SLACK";
/// Repeats the last line of the message that the envelope quotes.
const AGENT: &str = "sed -n 's/^| //p' | tail -n 1 | sed 's/^/You said: /'";

/// The stage.
pub(super) struct Stage {
    home: tempfile::TempDir,
    pub(super) twin: SlackTwin,
    hub: Option<Child>,
    pub(super) client: Client,
    credential: String,
}

impl Stage {
    /// Opens the stage with a running hub.
    pub(super) async fn open(seed: u64) -> Result<Stage> {
        let home = tempfile::Builder::new().prefix("loom-demo-").tempdir().map_err(Error::internal)?;
        let config = Config { seed, ..Config::default() };
        let twin = SlackTwin::start(config).await.map_err(Error::internal)?;
        let credential = json!({"bot_token": "xoxb-1-twin", "app_token": "xapp-1-A0001-1-twin"}).to_string();
        let socket = home.path().join("home/run/loom.sock");
        let client = Client::new(Endpoint::Unix(socket), None);
        let mut stage = Stage { home, twin, hub: None, client, credential };
        stage.start_hub().await?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.home.path().join("home")
    }

    /// Starts the hub and waits until it answers.
    pub(super) async fn start_hub(&mut self) -> Result<Duration> {
        let program = std::env::current_exe().map_err(Error::internal)?;
        let log = std::fs::File::create(self.home.path().join("hub.log")).map_err(Error::internal)?;
        let started = tokio::time::Instant::now();
        let child = Command::new(program)
            .arg("up")
            .env_clear()
            .env("LOOM_HOME", self.home())
            .env("LOOM_LISTEN__ADDRESS", "\"\"")
            .env("LOOM_TRANSPORT__PROXY", "none")
            .env(CREDENTIAL, &self.credential)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(Error::internal)?;
        self.hub = Some(child);
        self.until(START, || async { self.get(routes::status()).await.ok() }).await?;
        Ok(started.elapsed())
    }

    /// Runs a command line of this program in the home; gives what it printed.
    pub(super) async fn run(&self, words: &[&str], variable: (&str, &str)) -> Result<String> {
        let program = std::env::current_exe().map_err(Error::internal)?;
        let ended = Command::new(program)
            .args(words)
            .env_clear()
            .env("LOOM_HOME", self.home())
            .env("LOOM_TRANSPORT__PROXY", "none")
            .env(variable.0, variable.1)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(Error::internal)?;
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    }

    /// Kills the hub at once, as a power cut would.
    pub(super) async fn kill_hub(&mut self) -> Result<()> {
        if let Some(mut hub) = self.hub.take() {
            hub.kill().await.map_err(Error::internal)?;
        }
        Ok(())
    }

    /// Asks again and again until there is an answer.
    pub(super) async fn until<T, F, Fut>(&self, limit: Duration, mut ask: F) -> Result<T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Option<T>>,
    {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            if let Some(answer) = ask().await {
                return Ok(answer);
            }
            if tokio::time::Instant::now() >= deadline {
                let log = std::fs::read_to_string(self.home.path().join("hub.log")).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(5).collect();
                return Err(Error::internal(format!(
                    "the demo waited in vain; the hub's last words: {}",
                    tail.join(" / ")
                )));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(super) async fn get(&self, path: String) -> Result<Value> {
        self.client.get(path).run().await
    }

    pub(super) async fn post(&self, path: String, body: Value) -> Result<Value> {
        self.client.post(path).json(&body)?.run().await
    }

    pub(super) async fn patch(&self, path: String, body: Value) -> Result<Value> {
        self.client.patch(path).json(&body)?.run().await
    }

    pub(super) async fn put(&self, path: String, body: Value) -> Result<Value> {
        self.client.put(path).json(&body)?.run().await
    }

    /// Makes the Agent, the Connection and the Address; gives the Address's id.
    pub(super) async fn set_up(&self) -> Result<(String, String)> {
        let agent = json!({"name": "docs", "runtime": "command", "command": ["/bin/sh", "-c", AGENT]});
        self.post(routes::agents(), agent).await?;
        let connection = json!({
            "provider": "slack", "accountRef": "A0001", "scopeRef": "T0001", "credentialRef": format!("env:{CREDENTIAL}"),
            "apiUrl": self.twin.base_url(), "gatewayMode": "managed",
        });
        let connection = id_of(&self.post(routes::connections(), connection).await?)?;
        let address = json!({"connectionId": connection, "externalIdentity": "U0BOT"});
        let address = id_of(&self.post(routes::agent_addresses("docs"), address).await?)?;
        Ok((connection, address))
    }

    /// Ends the hub and the twin. Gives the home when it is kept.
    pub(super) async fn close(mut self, keep: bool) -> Option<PathBuf> {
        let stopped = self.post(routes::hub_stop(), json!({"drainSeconds": 2})).await.is_ok();
        if let Some(mut hub) = self.hub.take() {
            let ended = tokio::time::timeout(Duration::from_secs(5), hub.wait()).await;
            if !stopped || ended.is_err() {
                let _ = hub.kill().await;
            }
        }
        self.twin.shutdown().await;
        keep.then(|| self.home.keep())
    }
}

/// The id of a mutation's object.
pub(super) fn id_of(mutation: &Value) -> Result<String> {
    let id = mutation.pointer("/object/id").and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| Error::internal("an answer without an id"))
}
