//! The event feed: what changed, in order of commit, from the store; and live output of Turns, which is not stored.

use std::sync::Arc;

use loom_domain::{Result, Turn};
use loom_store::{Store, Topic, ops::feed::Change};
use tokio::sync::{broadcast, watch};

const OUTPUT_WAITING_MAX: usize = 1_024;

/// Live output of a Turn.
#[derive(Debug, Clone)]
pub struct Output {
    /// Turn.
    pub turn: loom_domain::TurnId,
    /// Agent.
    pub agent: loom_domain::AgentId,
    /// Item of the runtime.
    pub item: String,
    /// Added text.
    pub delta: String,
}

/// One event of the feed.
#[derive(Debug, Clone)]
pub enum HubEvent {
    /// A stored change.
    Change(Change),
    /// Output of a Turn.
    Output(Output),
}

/// The feed.
#[derive(Clone)]
pub struct Feed {
    store: Store,
    output: Arc<broadcast::Sender<Output>>,
}

impl Feed {
    pub(crate) fn new(store: Store) -> Self {
        Feed { store, output: Arc::new(broadcast::Sender::new(OUTPUT_WAITING_MAX)) }
    }

    /// Changes after an order number, oldest first.
    pub async fn since(&self, seq: u64, limit: u32) -> Result<Vec<Change>> {
        self.store.changes_since(seq, Vec::new(), None, limit).await
    }

    /// The oldest order number that is kept; a reader before it starts anew.
    pub async fn oldest(&self) -> Result<u64> {
        self.store.feed_range().await.map(|(oldest, _)| oldest)
    }

    /// Wakes after each commit that changed something.
    pub fn wakes(&self) -> watch::Receiver<u64> {
        self.store.watch(Topic::Feed)
    }

    /// Live output; a reader that is too slow misses some.
    pub fn outputs(&self) -> broadcast::Receiver<Output> {
        self.output.subscribe()
    }

    pub(crate) fn output(&self, turn: &Turn, item: &str, delta: &str) {
        if self.output.receiver_count() == 0 {
            return;
        }
        let output = Output {
            turn: turn.id.clone(),
            agent: turn.agent_id.clone(),
            item: item.to_owned(),
            delta: delta.to_owned(),
        };
        let _ = self.output.send(output);
    }
}
