//! Working marks on messages: set when a Turn starts, removed when the item has left the Agent and the courier.
//! Cosmetic: they follow commits, never poll, and never delay work.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loom_channels::Mark;
use loom_domain::{ConnectionId, InboxId, inbox::State};
use loom_store::{Topic, ops::turns::Claimed};

use crate::hub::Hub;

const MARKS_MAX: usize = 4_096;
const CALL: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) connection: ConnectionId,
    pub(crate) conversation: String,
    pub(crate) message: String,
}

/// Marks that are set.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    set: Mutex<HashMap<InboxId, Place>>,
}

impl Marks {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<InboxId, Place>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the mark of an item whose Turn starts.
    pub(crate) fn start(&self, hub: &Hub, claimed: &Claimed) {
        let (Some(connection), Some(message)) =
            (&claimed.connection, &claimed.message.conversation.message_id)
        else {
            return;
        };
        let place = Place {
            connection: connection.id.clone(),
            conversation: claimed.message.conversation.conversation_id.clone(),
            message: message.clone(),
        };
        {
            let mut set = self.lock();
            if set.len() >= MARKS_MAX {
                return;
            }
            set.insert(claimed.item.id.clone(), place.clone());
        }
        hub.inner.tasks.own(put(hub.clone(), place, Mark::Working));
    }
}

async fn put(hub: Hub, place: Place, mark: Mark) {
    let Some(channel) = hub.channel(&place.connection) else { return };
    let call = channel.mark(&place.conversation, &place.message, mark);
    if let Ok(Err(fault)) = tokio::time::timeout(CALL, call).await {
        tracing::debug!("a mark was not set: {fault}");
    }
}

/// Removes marks as their items move on.
pub(crate) async fn run(hub: Hub) {
    let mut wakes = hub.store().watch(Topic::Inbox);
    restore(&hub).await;
    loop {
        wakes.borrow_and_update();
        sweep(&hub).await;
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            changed = wakes.changed() => if changed.is_err() { return },
        }
    }
}

/// Marks that were set before a restart.
async fn restore(hub: &Hub) {
    if let Ok(active) = hub.store().active_marks().await {
        let mut set = hub.inner.marks.lock();
        for mark in active.into_iter().take(MARKS_MAX) {
            let place = Place {
                connection: mark.connection,
                conversation: mark.conversation_id,
                message: mark.message_id,
            };
            set.insert(mark.item, place);
        }
    }
}

async fn sweep(hub: &Hub) {
    let ids: Vec<InboxId> = hub.inner.marks.lock().keys().cloned().collect();
    if ids.is_empty() {
        return;
    }
    let Ok(states) = hub.store().item_states(ids).await else { return };
    for (id, state) in states {
        if matches!(state, State::Handling | State::AwaitingDelivery) {
            continue;
        }
        let place = hub.inner.marks.lock().remove(&id);
        if let Some(place) = place {
            hub.inner.tasks.own(put(hub.clone(), place, Mark::None));
        }
    }
}
