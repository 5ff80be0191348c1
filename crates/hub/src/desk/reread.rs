//! Reads the text of a refused message again, when the Address keeps no text of what it refuses.

use loom_channels::HistoryQuery;
use loom_domain::{Code, Error, Event, Result};

use crate::hub::Hub;

/// Messages read around the one that is looked for.
const READ_MAX: usize = 200;

impl Hub {
    /// The text as the platform has it now; nothing when the stored one is there or the message had none.
    pub async fn dropped_text(&self, event: &Event) -> Result<Option<String>> {
        let (inbound, place) = (&event.inbound, &event.inbound.conversation);
        let Some(message) = place.message_id.as_deref() else { return Ok(None) };
        if !inbound.content.text.is_empty() {
            return Ok(None);
        }
        let channel = self.channel(&event.connection_id).ok_or_else(|| {
            Error::new(Code::GatewayUnavailable, "the dropped text cannot be read again: no gateway serves")
        })?;
        let query = HistoryQuery {
            conversation_id: place.conversation_id.clone(),
            thread_id: place.thread_id.clone(),
            after: None,
            since: inbound.occurred_at.map(|at| at.plus_ms(-1_000)),
            limit: READ_MAX,
        };
        let page = channel.history(query).await.map_err(|fault| {
            Error::new(Code::ProviderNetworkError, format!("the dropped text cannot be read again: {fault}"))
        })?;
        let found = page
            .messages
            .into_iter()
            .find(|read| read.event.conversation.message_id.as_deref() == Some(message));
        Ok(found.map(|read| self.stored_text(&read.event.content.text)))
    }
}
