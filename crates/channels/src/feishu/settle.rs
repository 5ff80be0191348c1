//! Did it arrive? (messaging specification 5.8, provider reference B.10)
//!
//! While the platform is sure to remember the uuid, the question is the send itself: it answers with the one message.
//! Later a repeat might show the message twice, so only the conversation is looked at.

use loom_domain::outbox::PartKind;
use loom_domain::{TextFormat, Timestamp};
use serde_json::Value;

use super::Inner;
use super::deliver::{Place, Sendable};
use super::errors::is_denied;
use super::history::Window;
use super::wire::{text, time_ms};
use crate::{Fault, FaultClass, SentIds, SettlePart, Settlement};

/// The platform remembers a uuid for an hour; the rest is for clocks that differ.
const REMEMBERED_MS: i64 = 50 * 60 * 1_000;
/// Messages are read from this long before the attempt, for clocks that differ.
const LOOK_BACK_MS: i64 = 60_000;
/// Messages that are looked through.
const MESSAGES_MAX: usize = 1_000;
/// Candidates that are named.
const NAMED_MAX: usize = 5;

impl Inner {
    pub(super) async fn settle(&self, settle: &SettlePart) -> Settlement {
        let uploaded = settle.provider_key.as_deref().and_then(Sendable::parse);
        if settle.part.kind == PartKind::File && uploaded.is_none() {
            // Without a key the visible step cannot have been taken.
            return Settlement::NotFound;
        }
        let age_ms = self.clock.now().since_ms(settle.attempted_at);
        if age_ms <= REMEMBERED_MS {
            // Any other answer says nothing of the attempt in doubt.
            return match self.repeat(settle, uploaded.as_ref()).await {
                Ok(ids) => Settlement::Found(ids),
                Err(fault) => Settlement::Unanswered(fault),
            };
        }
        match self.look(settle, uploaded.as_ref()).await {
            Ok(settlement) => settlement,
            Err(fault) if is_denied(&fault) => Settlement::Unanswerable(fault),
            Err(fault) => Settlement::Unanswered(fault),
        }
    }

    async fn repeat(&self, settle: &SettlePart, uploaded: Option<&Sendable>) -> Result<SentIds, Fault> {
        let place = self.place(&settle.part).await?;
        match uploaded {
            Some(uploaded) => self.publish_file(&settle.part, &place, uploaded).await,
            None => self.publish_text(&settle.part, &place).await,
        }
    }

    /// Looks for one message of ours with the same content. Posts are not read back as they were sent, so that
    /// none is found proves nothing, and several leave the choice to the owner.
    async fn look(&self, settle: &SettlePart, uploaded: Option<&Sendable>) -> Result<Settlement, Fault> {
        let thread = match self.place(&settle.part).await? {
            Place::Answer { in_thread: true, .. } => settle.part.target.thread_id.clone(),
            _ => None,
        };
        let since = Timestamp(settle.attempted_at.0.saturating_sub(LOOK_BACK_MS));
        let window = Window {
            conversation: &settle.part.conversation_id,
            thread: thread.as_deref(),
            since: Some(since),
            limit: MESSAGES_MAX,
        };
        let (items, _) = self.items(&window).await?;
        let own = items.iter().filter(|item| self.is_own(item));
        let matching: Vec<&Value> = match (uploaded, settle.part.format) {
            (Some(uploaded), _) => own.filter(|item| body(item).contains(&uploaded.key)).collect(),
            (None, TextFormat::Markdown | TextFormat::Plain) => {
                let wanted = letters(settle.part.text.as_deref().unwrap_or(""));
                own.filter(|item| letters(&super::history::words(item)) == wanted).collect()
            }
        };
        if let [only] = matching.as_slice() {
            return Ok(Settlement::Found(SentIds {
                message_id: text(only, "message_id").map(str::to_owned),
                file_id: uploaded.map(|uploaded| uploaded.key.clone()),
                thread_id: text(only, "thread_id").map(str::to_owned),
                permalink: None,
                provider_time: time_ms(only, "create_time").map(Timestamp),
            }));
        }
        let ids: Vec<&str> =
            matching.iter().filter_map(|item| text(item, "message_id")).take(NAMED_MAX).collect();
        let message = match ids.is_empty() {
            true => "no message of ours with this content is shown, which proves nothing".to_owned(),
            false => format!("several messages have this content: {}", ids.join(", ")),
        };
        Ok(Settlement::Unanswerable(Fault::new(FaultClass::Unknown, "no_clear_answer", message)))
    }

    /// Whether a message of a history is the app's own.
    pub(super) fn is_own(&self, item: &Value) -> bool {
        let sender = item.get("sender").unwrap_or(&Value::Null);
        text(sender, "sender_type") == Some("app") && text(sender, "id") == Some(&self.app_id)
    }
}

fn body(item: &Value) -> &str {
    item.get("body").and_then(|body| text(body, "content")).unwrap_or("")
}

/// The letters and digits of a text: what no translation changes. The name of a code block's language is not shown.
fn letters(text: &str) -> String {
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    text.lines().filter(|line| !is_fence(line)).flat_map(str::chars).filter(|c| c.is_alphanumeric()).collect()
}
