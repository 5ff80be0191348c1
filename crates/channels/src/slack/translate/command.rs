//! Explicit dispatches: slash commands and message shortcuts.

use loom_domain::message::{EventKind, Sender, SenderKind};
use loom_domain::{ConversationType, InboundEvent};
use loom_markup::slack::from_slack;
use serde_json::Value;

use super::super::wire::{Envelope, text};
use super::{Known, empty, message, raw};

/// A slash command. It has no message, so the envelope's id stands for one.
pub(super) fn slash(envelope: &Envelope, known: &Known<'_>) -> InboundEvent {
    let payload = &envelope.payload;
    let channel = text(payload, "channel_id").unwrap_or("");
    let mut out = empty(EventKind::Message, channel);
    out.event_id.clone_from(&envelope.id);
    out.conversation.message_id = Some(format!("command/{}", envelope.id));
    out.message_key = Some(format!("{}/{channel}/command/{}", known.own.team, envelope.id));
    let told = (text(payload, "channel_name") == Some("directmessage")).then_some(ConversationType::Dm);
    out.conversation.conversation_type = (known.kind)(channel).or(told);
    out.sender = text(payload, "user_id").map(|id| Sender {
        external_id: id.to_owned(),
        display_name: (known.name)(id).or_else(|| text(payload, "user_name").map(str::to_owned)),
        kind: SenderKind::Human,
    });
    out.content.text = from_slack(text(payload, "text").unwrap_or(""), None, |id| (known.name)(id));
    out.bare_mention = out.content.text.trim().is_empty();
    out.dispatch = true;
    out.raw = raw(payload);
    out
}

/// A message shortcut: the chosen message, dispatched. Other interactions need no custody.
pub(super) fn shortcut(envelope: &Envelope, known: &Known<'_>) -> Option<InboundEvent> {
    let payload = &envelope.payload;
    if text(payload, "type") != Some("message_action") {
        return None;
    }
    let channel = payload.get("channel").and_then(|channel| text(channel, "id"))?;
    let item = payload.get("message").filter(|item| item.is_object())?;
    let mut out = message::translate(item, known).map(|event| with_channel(event, channel, known, item))?;
    out.event_id.clone_from(&envelope.id);
    out.dispatch = true;
    out.raw = raw(payload);
    Some(out)
}

fn with_channel(mut event: InboundEvent, channel: &str, known: &Known<'_>, item: &Value) -> InboundEvent {
    channel.clone_into(&mut event.conversation.conversation_id);
    event.conversation.conversation_type = (known.kind)(channel);
    event.message_key = text(item, "ts").map(|ts| format!("{}/{channel}/{ts}", known.own.team));
    event
}
