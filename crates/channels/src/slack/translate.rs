//! Slack payloads as inbound events. Pure: names and kinds come from what is already known.

mod command;
mod fact;
mod message;

use loom_domain::message::{Content, ConversationRef, EventKind, TextFormat};
use loom_domain::{ConversationType, Expectation, InboundEvent, Timestamp};
use serde_json::Value;

use super::wire::{Envelope, text, ts_ms};

pub(super) use fact::voids_token;
pub(super) use message::{
    from_history, hides_metadata, is_own, kind_of_conversation, own_files, part_of, told_kind,
};

/// Raw payload that is kept with an event, bytes.
const RAW_BYTES_MAX: usize = 256 * 1024;
/// Members of a payload that act like a credential and are never kept.
const SECRET_MEMBERS: &[&str] = &["token", "response_url", "trigger_id", "verification_token"];

/// Who we are on this Connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) team: String,
    pub(super) user: String,
    pub(super) bot: String,
    pub(super) app: String,
}

/// What the translation knows besides the payload.
pub(super) struct Known<'a> {
    pub(super) own: &'a Own,
    /// Display name of an actor, if it is already known.
    pub(super) name: &'a (dyn Fn(&str) -> Option<String> + Send + Sync),
    /// Kind of a conversation, if it is already known.
    pub(super) kind: &'a (dyn Fn(&str) -> Option<ConversationType> + Send + Sync),
}

/// The conversation an envelope belongs to; events of one conversation keep their order.
pub(super) fn lane(envelope: &Envelope) -> &str {
    let event = envelope.payload.get("event").unwrap_or(&envelope.payload);
    text(event, "channel")
        .or_else(|| text(event, "channel_id"))
        .or_else(|| event.get("item").and_then(|item| text(item, "channel")))
        .or_else(|| event.get("channel").and_then(|channel| text(channel, "id")))
        .unwrap_or("")
}

/// The conversation whose kind the envelope does not tell but its judgement needs.
pub(super) fn kind_wanted(envelope: &Envelope) -> Option<&str> {
    let event = envelope.payload.get("event").unwrap_or(&envelope.payload);
    let is_message = match envelope.kind.as_str() {
        "events_api" => matches!(text(event, "type"), Some("app_mention" | "message")),
        "slash_commands" | "interactive" => true,
        _ => false,
    };
    let told = message::told_kind(event).is_some();
    Some(lane(envelope)).filter(|channel| is_message && !told && !channel.is_empty())
}

/// Translates an envelope. An empty list needs no custody, only the acknowledgement.
pub(super) fn translate(envelope: &Envelope, known: &Known<'_>) -> Vec<InboundEvent> {
    let event = match envelope.kind.as_str() {
        "events_api" => events_api(envelope, known),
        "slash_commands" => Some(command::slash(envelope, known)),
        "interactive" => command::shortcut(envelope, known),
        _ => None,
    };
    event.into_iter().collect()
}

fn events_api(envelope: &Envelope, known: &Known<'_>) -> Option<InboundEvent> {
    let payload = &envelope.payload;
    if text(payload, "type") == Some("app_rate_limited") {
        return Some(fact::rate_limited(envelope, known));
    }
    let Some(event) = payload.get("event").filter(|event| text(event, "type").is_some()) else {
        return Some(malformed(envelope));
    };
    let mut out = match text(event, "type")? {
        "app_mention" | "message" => message::translate(event, known)?,
        _ => fact::translate(event, known)?,
    };
    out.event_id = event_id(envelope);
    out.occurred_at = out.occurred_at.or_else(|| text(event, "event_ts").and_then(ts_ms).map(Timestamp));
    out.raw = raw(payload);
    Some(out)
}

fn event_id(envelope: &Envelope) -> String {
    text(&envelope.payload, "event_id").unwrap_or(&envelope.id).to_owned()
}

/// An event that the hub will refuse as malformed, with its raw payload as evidence.
fn malformed(envelope: &Envelope) -> InboundEvent {
    let mut out = empty(EventKind::Message, "");
    out.event_id = event_id(envelope);
    out.raw = raw(&envelope.payload);
    out
}

/// An event with nothing but a kind and a conversation.
fn empty(kind: EventKind, channel: &str) -> InboundEvent {
    InboundEvent {
        event_id: String::new(),
        kind,
        occurred_at: None,
        conversation: ConversationRef {
            conversation_id: channel.to_owned(),
            thread_id: None,
            message_id: None,
            conversation_type: None,
            platform_type: None,
        },
        parent_type: None,
        sender: None,
        content: Content {
            text: String::new(),
            format: TextFormat::Plain,
            truncated: false,
            attachments: Vec::new(),
        },
        mentions: Vec::new(),
        dispatch: false,
        reply_expected: Expectation::Optional,
        target_message_id: None,
        message_key: None,
        bare_mention: false,
        thread_context: None,
        fact: None,
        cursor: None,
        raw: Value::Null,
    }
}

/// The payload without what acts like a credential; too large a one is left out.
fn raw(payload: &Value) -> Value {
    let mut kept = payload.clone();
    if let Some(map) = kept.as_object_mut() {
        for member in SECRET_MEMBERS {
            map.remove(*member);
        }
    }
    if kept.to_string().len() <= RAW_BYTES_MAX { kept } else { serde_json::json!({ "omitted": "too_large" }) }
}

#[cfg(test)]
mod tests;
