//! The usual scene: one echoing Agent, one Slack Connection, one Address, and the conversations it may serve.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use loom_twins::slack::{LedgerMessage, Post};
use serde_json::Value;

use super::poll::{SOON, eventually};
use super::{Setup, World};

/// Answers with the last quoted line of its envelope.
pub(crate) const ECHO: &str = "#!/bin/sh\nlast=$(sed -n 's/^| //p' | tail -n 1)\necho \"echo: $last\"\n";

/// Writes a script that an Agent runs, and gives its path.
pub(crate) fn agent_script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path.to_string_lossy().into_owned()
}

/// A world in which Ann's DM and the channel `C0GENERAL` are served.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) connection: String,
    pub(crate) address: String,
    pub(crate) channel: String,
    pub(crate) dm: String,
}

impl Scene {
    /// The scene with default settings and an echoing Agent, connected.
    pub(crate) async fn new() -> Self {
        Self::with(Setup::default(), ECHO).await
    }

    /// The scene with settings and a script of the Agent.
    pub(crate) async fn with(setup: Setup, script: &str) -> Self {
        let mut world = World::new(setup).await;
        world.up().await;
        let script = agent_script(&world.work(), "agent.sh", script);
        let cwd = world.work().to_string_lossy().into_owned();
        let words =
            ["agent", "create", "echo", "--runtime", "command", "--cwd", &cwd, "--json", "--", &script];
        world.loom(&words).await.ok();
        Self::of(world).await
    }

    /// Completes a world that has an Agent `echo`: connect, bind, two conversations, enable, connected.
    pub(crate) async fn of(world: World) -> Self {
        let url = world.twin.base_url();
        let words = [
            "integration",
            "connect",
            "slack",
            "--account",
            "A0001",
            "--scope",
            "T0001",
            "--credential-ref",
            "env:SLACK_TWIN",
            "--api-url",
            &url,
            "--gateway",
            "managed",
            "--json",
        ];
        let connection = world.loom(&words).await.ok().id();
        let words =
            ["integration", "bind", "echo", &connection, "--identity", "slack://T0001/U0BOT", "--json"];
        let address = world.loom(&words).await.ok().id();
        let mut scene = Scene { world, connection, address, channel: String::new(), dm: String::new() };
        scene.channel = scene.serve("C0GENERAL", &["--type", "channel"]).await;
        scene.dm = scene.serve("D0ANN", &["--type", "dm", "--actor", "U0ANN", "--trigger", "direct"]).await;
        for id in [&scene.connection, &scene.address] {
            scene.world.loom(&["integration", "enable", id, "--json"]).await.ok();
        }
        scene.world.connected(&scene.connection).await;
        scene
    }

    /// Makes and enables a Membership.
    pub(crate) async fn serve(&self, conversation: &str, flags: &[&str]) -> String {
        let mut words = vec!["conversation", "set", &self.address, conversation, "--json"];
        words.extend(flags);
        let id = self.world.loom(&words).await.ok().id();
        self.world.loom(&["conversation", "enable", &id, "--json"]).await.ok();
        id
    }

    /// Runs a command line that must end well, in JSON.
    pub(crate) async fn json(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        self.world.loom(&words).await.ok().json()
    }

    /// Ann writes a DM; gives its timestamp.
    pub(crate) fn ann_writes(&self, text: &str) -> String {
        self.world.twin.post(Post::new("D0ANN", "U0ANN", text)).unwrap().ts
    }

    /// Ann mentions the bot in the channel; gives the timestamp.
    pub(crate) fn ann_mentions(&self, text: &str) -> String {
        self.world.twin.post(Post::mention("C0GENERAL", "U0ANN", text)).unwrap().ts
    }

    /// Waits for the app's message that holds the text.
    pub(crate) async fn seen(&self, text: &str) -> LedgerMessage {
        let look = |twin: &loom_twins::slack::SlackTwin| {
            twin.ledger().by_app().find(|message| message.text.contains(text)).cloned()
        };
        let found = self.world.twin.wait_for(SOON, look).await;
        found
            .unwrap_or_else(|_| panic!("people never saw {text:?}: {:#?}", self.world.twin.ledger().messages))
    }

    /// The app's messages that hold the text.
    pub(crate) fn seen_times(&self, text: &str) -> usize {
        self.world.twin.ledger().by_app().filter(|message| message.text.contains(text)).count()
    }

    /// The Inbox item whose message holds the text, once there is one.
    pub(crate) async fn item(&self, text: &str) -> Value {
        eventually(&format!("an Inbox item for {text:?}"), SOON, || async {
            let items = self.json(&["inbox", "list", "--limit", "500"]).await["items"].as_array()?.clone();
            items.into_iter().find(|item| {
                item["message"]["content"]["text"].as_str().is_some_and(|found| found.contains(text))
            })
        })
        .await
    }

    /// Waits until the item of the text has the state, and gives it.
    pub(crate) async fn item_is(&self, text: &str, state: &str) -> Value {
        eventually(&format!("{text:?} as {state}"), SOON, || async {
            let item = self.item(text).await;
            (item["item"]["state"] == state).then_some(item)
        })
        .await
    }

    /// The Outbox item of the reply to an Inbox entry, in full.
    pub(crate) async fn reply_of(&self, entry: &Value) -> Value {
        let id = entry["outboxItems"][0]["id"].as_str().unwrap_or_else(|| panic!("no reply: {entry:#}"));
        self.json(&["outbox", "get", id]).await
    }

    /// Waits until the newest Outbox item for the text is in the state, and gives it in full.
    pub(crate) async fn reply_is(&self, text: &str, state: &str, limit: std::time::Duration) -> Value {
        eventually(&format!("the reply to {text:?} as {state}"), limit, || async {
            let entry = self.item(text).await;
            let id = entry["outboxItems"].as_array()?.last()?["id"].as_str()?.to_owned();
            let reply = self.json(&["outbox", "get", &id]).await;
            (reply["state"] == state).then_some(reply)
        })
        .await
    }
}
