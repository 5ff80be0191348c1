//! Where a message goes (messaging specification 5.5).

use super::super::Inner;
use super::super::api::Call;
use super::super::wire::{data, is_message, is_thread, list, text};
use crate::{Fault, FaultClass, SendPart};

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// To the conversation.
    Conversation,
    /// As an answer to a message, in its topic if it stands in one.
    Answer { message: String, in_thread: bool },
}

impl Inner {
    /// The place of a Part. A topic is entered through one of its messages.
    pub(in super::super) async fn place(&self, part: &SendPart) -> Result<Place, Fault> {
        let (thread, message) = (part.target.thread_id.as_deref(), part.target.message_id.as_deref());
        if let Some(message) = message.filter(|id| is_message(id)) {
            let in_thread = thread.is_some_and(is_thread);
            return Ok(Place::Answer { message: message.to_owned(), in_thread });
        }
        match thread {
            Some(id) if is_message(id) => Ok(Place::Answer { message: id.to_owned(), in_thread: true }),
            Some(id) if is_thread(id) => {
                let message = self.root_of(id).await?;
                Ok(Place::Answer { message, in_thread: true })
            }
            _ => Ok(Place::Conversation),
        }
    }

    /// The first message of a topic.
    async fn root_of(&self, thread: &str) -> Result<String, Fault> {
        let call = Call::get("thread", "im/v1/messages")
            .query("container_id_type", "thread")
            .query("container_id", thread)
            .query("sort_type", "ByCreateTimeAsc")
            .query("page_size", "1");
        let body = self.api.call(&call).await?;
        let first = list(data(&body), "items").first().and_then(|item| text(item, "message_id"));
        first.filter(|id| is_message(id)).map(str::to_owned).ok_or_else(|| {
            Fault::new(
                FaultClass::Permanent,
                "thread_not_found",
                "the platform shows no message of the thread",
            )
        })
    }
}
