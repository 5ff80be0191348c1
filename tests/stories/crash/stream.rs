//! The stream of messages, faults and kills.

use std::time::Duration;

use loom_twins::slack::{Action, Fault, FaultAction, Post};
use serde_json::{Value, json};

use super::random::Random;
use super::{CHANNELS, channel};
use crate::harness::Scene;

/// Longest life of a hub between two kills, milliseconds.
const LIFE_MS: u32 = 900;

/// A message that must be answered once, and where.
pub(super) struct Asked {
    pub(super) token: String,
    pub(super) channel: String,
    pub(super) thread: Option<String>,
}

/// The running story.
pub(super) struct Stream {
    pub(super) scene: Scene,
    pub(super) random: Random,
    pub(super) asked: Vec<Asked>,
    /// Items of unknown fate that the owner let run again.
    pub(super) retried: usize,
}

impl Stream {
    pub(super) fn new(scene: Scene, random: Random) -> Self {
        Stream { scene, random, asked: Vec::new(), retried: 0 }
    }

    /// One life of the hub: a few messages and faults, then SIGKILL at a random moment, then a new start.
    pub(super) async fn random_kill(&mut self) {
        for _ in 0..=self.random.below(3) {
            self.ask();
        }
        if self.random.once_in(3) {
            self.lose_an_answer();
        }
        if self.random.once_in(10) {
            self.scene.world.twin.act(Action::DropSockets {}).unwrap();
        }
        let life = self.random.below(LIFE_MS);
        if self.random.once_in(5) {
            // Now and then during the start itself.
            self.scene.world.kill().await;
            self.scene.world.spawn(&[]);
        }
        tokio::time::sleep(Duration::from_millis(u64::from(life))).await;
        self.scene.world.kill().await;
        self.scene.world.up().await;
        self.tend().await;
    }

    /// Somebody writes a message with a token of its own.
    pub(super) fn ask(&mut self) {
        let token = format!("m{:05}", self.asked.len());
        let n = self.random.below(CHANNELS + 1);
        let (channel, is_dm) = if n == CHANNELS { ("D0ANN".to_owned(), true) } else { (channel(n), false) };
        let root = self.asked.iter().rev().find(|asked| asked.channel == channel && !is_dm);
        let root = root.and_then(|asked| asked.thread.clone()).filter(|_| self.random.once_in(3));
        let text = format!("please answer {token}");
        let mut post =
            if is_dm { Post::new(&channel, "U0ANN", &text) } else { Post::mention(&channel, "U0ANN", &text) };
        post.thread_ts.clone_from(&root);
        let ts = self.scene.world.twin.post(post).unwrap().ts;
        let thread = if is_dm { None } else { root.or(Some(ts)) };
        self.asked.push(Asked { token, channel, thread });
    }

    /// The answer to the next send is lost in one of several ways; now and then the send itself.
    fn lose_an_answer(&mut self) {
        let action = match self.random.below(12) {
            0 => FaultAction::DropRequest,
            1 => FaultAction::RateLimited { retry_after_secs: Some(1) },
            2 | 3 => FaultAction::StatusAfterActing { status: 500 },
            4 | 5 => FaultAction::ErrorAfterActing { code: "internal_error".into() },
            6 | 7 => FaultAction::ResetAfterBytes { bytes: 3 },
            _ => FaultAction::DropAnswer,
        };
        self.scene.world.twin.fault(Fault::once("chat.postMessage", action));
    }

    /// What an owner does: a Turn of unknown fate is never run again by the hub, so the owner says so.
    pub(super) async fn tend(&mut self) {
        let world = &self.scene.world;
        let Some(items) = world.all(loom_api::routes::INBOX, &json!({"open": true})).await else { return };
        let stuck = |item: &&Value| {
            ["interrupted", "failed", "needs_decision"]
                .contains(&item["item"]["state"].as_str().unwrap_or_default())
        };
        for item in items.iter().filter(stuck) {
            let id = item["item"]["id"].as_str().unwrap_or_default();
            let client = world.client();
            if client.post(loom_api::routes::inbox_retry(id)).run::<Value>().await.is_ok() {
                self.retried += 1;
            }
        }
    }
}
