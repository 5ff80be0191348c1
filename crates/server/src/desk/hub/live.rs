//! Events and readiness of a hub.

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{ConnectionId, Error};
use loom_hub::{Hub, Output, Phase};
use loom_store::Store;
use loom_store::ops::feed::Change;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::HubDesk;
use crate::{EventSource, History, QUEUE_MAX, Readiness, StreamEvent};

/// Changes read at once.
const PAGE: u32 = 256;

/// The events of a hub: one reader of the store feeds every stream.
pub(super) struct HubEvents {
    hub: Hub,
    live: broadcast::Sender<Arc<StreamEvent>>,
}

impl HubEvents {
    pub(super) fn new(hub: Hub) -> Self {
        HubEvents { hub, live: broadcast::Sender::new(QUEUE_MAX) }
    }

    /// Passes on what was stored after a place; gives the new place.
    async fn pass_on(&self, mut seq: u64) -> Result<u64, Error> {
        loop {
            let changes = self.hub.feed().since(seq, PAGE).await?;
            let Some(last) = changes.last() else { return Ok(seq) };
            seq = last.seq;
            for change in &changes {
                // Without readers there is nobody to tell.
                let _ = self.live.send(Arc::new(stored(change)));
            }
        }
    }
}

#[async_trait]
impl EventSource for HubEvents {
    fn subscribe(&self) -> broadcast::Receiver<Arc<StreamEvent>> {
        self.live.subscribe()
    }

    async fn after(&self, seq: u64, limit: usize) -> Result<History, Error> {
        if seq > 0 && seq.saturating_add(1) < self.hub.feed().oldest().await? {
            return Ok(History::Gone);
        }
        let limit = u32::try_from(limit).unwrap_or(PAGE);
        let changes = self.hub.feed().since(seq, limit).await?;
        Ok(History::Events(changes.iter().map(|change| Arc::new(stored(change))).collect()))
    }

    async fn pump(&self, stop: CancellationToken) {
        let (mut wakes, mut outputs) = (self.hub.feed().wakes(), self.hub.feed().outputs());
        let mut seq = 0;
        loop {
            match self.pass_on(seq).await {
                Ok(reached) => seq = reached,
                Err(error) => tracing::warn!(code = %error.code, "the event feed could not be read"),
            }
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    woken = wakes.changed() => match woken {
                        Ok(()) => break,
                        Err(_) => return,
                    },
                    Ok(output) = outputs.recv() => {
                        let _ = self.live.send(Arc::new(delta(&output, seq)));
                    }
                }
            }
        }
    }
}

/// Stored changes after a place as events, and the place of the last of them.
pub(crate) async fn read_events(
    store: &Store,
    seq: u64,
    limit: u32,
) -> Result<(u64, Vec<Arc<StreamEvent>>), Error> {
    let changes = store.changes_since(seq, Vec::new(), None, limit).await?;
    let reached = changes.last().map_or(seq, |last| last.seq);
    Ok((reached, changes.iter().map(|change| Arc::new(stored(change))).collect()))
}

fn stored(change: &Change) -> StreamEvent {
    let mut data =
        json!({"seq": change.seq, "type": change.kind, "id": change.object_id, "changed": change.changed});
    if let Some(members) = data.as_object_mut().filter(|_| change.version > 0) {
        members.insert("version".to_owned(), change.version.into());
    }
    StreamEvent {
        seq: Some(change.seq),
        kind: change.kind.clone(),
        agent: change.agent_id.as_deref().and_then(|id| id.parse().ok()),
        data: data.to_string(),
    }
}

fn delta(output: &Output, seq: u64) -> StreamEvent {
    let object = json!({"turnId": output.turn, "itemId": output.item, "text": output.delta});
    StreamEvent {
        seq: None,
        kind: "thread.output".to_owned(),
        agent: Some(output.agent.clone()),
        data: json!({"seq": seq, "type": "thread.output", "id": output.turn, "object": object}).to_string(),
    }
}

#[async_trait]
impl Readiness for HubDesk {
    async fn readiness(&self) -> (bool, Value) {
        let serving = *self.hub.phase().borrow() == Phase::Serving;
        let writable = self.hub.store().health().borrow().fault.is_none();
        let connections = self.hub.store().all_connections().await.unwrap_or_default();
        let states: Map<String, Value> = connections
            .iter()
            .map(|connection| (connection.id.to_string(), self.state_of(&connection.id)))
            .collect();
        (serving && writable, json!({"serving": serving, "storeWritable": writable, "connections": states}))
    }
}

impl HubDesk {
    fn state_of(&self, id: &ConnectionId) -> Value {
        json!(self.hub.connection_health(id).readiness())
    }
}
