//! Did it arrive? (messaging specification 5.8)

use loom_domain::Timestamp;
use loom_domain::outbox::PartKind;
use serde_json::{Value, json};

use super::Inner;
use super::deliver::{file_ids, thread_of};
use super::errors::is_denied;
use super::translate::{hides_metadata, is_own, part_of};
use super::wire::{list, ms_to_ts, text, ts_ms};
use crate::{Fault, FaultClass, SentIds, SettlePart, Settlement};

/// Messages are read from this long before the attempt, for clocks that differ.
const LOOK_BACK_MS: i64 = 60_000;
/// Pages read for one answer.
const PAGES_MAX: usize = 50;

/// What the messages of one window say.
enum Seen {
    Found(String),
    /// Complete, without the Part.
    Absent,
    /// An own message keeps its payload from us, so absence proves nothing.
    Hidden,
}

impl Inner {
    pub(super) async fn settle(&self, settle: &SettlePart) -> Settlement {
        let answer = match settle.part.kind {
            PartKind::Text => self.settle_text(settle).await,
            PartKind::File => self.settle_file(settle).await,
        };
        match answer {
            Ok(settlement) => settlement,
            Err(fault) if is_denied(&fault) => Settlement::Unanswerable(fault),
            Err(fault) => Settlement::Unanswered(fault),
        }
    }

    async fn settle_text(&self, settle: &SettlePart) -> Result<Settlement, Fault> {
        let thread = thread_of(&settle.part);
        Ok(match self.look_for(settle, thread).await? {
            Seen::Found(ts) => Settlement::Found(SentIds {
                provider_time: ts_ms(&ts).map(Timestamp),
                message_id: Some(ts),
                file_id: None,
                thread_id: thread.map(str::to_owned),
                permalink: None,
            }),
            Seen::Absent => Settlement::NotFound,
            Seen::Hidden => Settlement::Unanswerable(Fault::new(
                FaultClass::Config,
                "metadata_hidden",
                "slack does not show the metadata of our messages",
            )),
        })
    }

    async fn look_for(&self, settle: &SettlePart, thread: Option<&str>) -> Result<Seen, Fault> {
        let own = self.own().await?;
        let oldest = ms_to_ts(settle.attempted_at.0 - LOOK_BACK_MS);
        let (mut cursor, mut seen) = (String::new(), Seen::Absent);
        for _ in 0..PAGES_MAX {
            let page = self.message_page(&settle.part.conversation_id, thread, &oldest, &cursor).await?;
            for item in list(&page, "messages").iter().filter(|item| is_own(item, &own)) {
                if part_of(item).as_ref() == Some(&settle.part.part_id) {
                    return Ok(text(item, "ts").map_or(Seen::Absent, |ts| Seen::Found(ts.to_owned())));
                }
                if hides_metadata(item) {
                    seen = Seen::Hidden;
                }
            }
            let next = next_cursor(&page);
            if next.is_empty() || next == cursor {
                return Ok(seen);
            }
            cursor = next;
        }
        Err(Fault::new(
            FaultClass::Retryable,
            "too_many_pages",
            "the conversation has too many messages to look through",
        ))
    }

    /// One page of a conversation or thread, with metadata.
    pub(super) async fn message_page(
        &self,
        channel: &str,
        thread: Option<&str>,
        oldest: &str,
        cursor: &str,
    ) -> Result<Value, Fault> {
        let mut params =
            json!({"channel": channel, "oldest": oldest, "limit": 200, "include_all_metadata": true});
        if let Some(map) = params.as_object_mut() {
            if !cursor.is_empty() {
                map.insert("cursor".into(), json!(cursor));
            }
            if let Some(root) = thread {
                map.insert("ts".into(), json!(root));
            }
        }
        let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
        Ok(self.api.read_call(method, params).await?.body)
    }

    async fn settle_file(&self, settle: &SettlePart) -> Result<Settlement, Fault> {
        // Without a file id the visible step cannot have been taken.
        let Some(file_id) = settle.provider_key.clone() else { return Ok(Settlement::NotFound) };
        let channel = &settle.part.conversation_id;
        let share = match self.echoes.find(channel, &file_id) {
            Some(ts) => Some(ts),
            None => self.share_of(channel, &file_id).await?,
        };
        Ok(match share {
            Some(ts) => Settlement::Found(file_ids(&settle.part, file_id, Some(ts))),
            None => Settlement::NotFound,
        })
    }
}

/// The cursor of the next page; empty at the end.
pub(super) fn next_cursor(body: &Value) -> String {
    body.get("response_metadata").and_then(|meta| text(meta, "next_cursor")).unwrap_or("").to_owned()
}
