//! Facts: reactions, members, lifecycle.

use loom_domain::InboundEvent;
use loom_domain::message::{EventKind, Sender, SenderKind};
use serde_json::Value;

use super::super::wire::{Envelope, list, text};
use super::{Known, empty, raw};

/// Translates an event that is no message; none for what is ignored.
pub(super) fn translate(event: &Value, known: &Known<'_>) -> Option<InboundEvent> {
    match text(event, "type")? {
        "reaction_added" => reaction(event, "", known),
        "reaction_removed" => reaction(event, "-", known),
        "member_joined_channel" => Some(member(event, ["bot_added", "member_joined"], known)),
        "member_left_channel" => Some(member(event, ["bot_removed", "member_left"], known)),
        "channel_left" | "group_left" => Some(removed(event, known)),
        "app_uninstalled" => Some(lifecycle("app_uninstalled")),
        "tokens_revoked" => Some(lifecycle("tokens_revoked")),
        _ => None,
    }
}

/// The Events API quota of the team is used up.
pub(super) fn rate_limited(envelope: &Envelope, known: &Known<'_>) -> InboundEvent {
    let minute = envelope.payload.get("minute_rate_limited").and_then(Value::as_i64).unwrap_or(0);
    let mut out = lifecycle("rate_limited");
    out.event_id = format!("app_rate_limited/{}/{minute}", known.own.team);
    out.raw = raw(&envelope.payload);
    out
}

/// Whether the event says that the bot token itself is void.
pub(in super::super) fn voids_token(event: &Value) -> bool {
    match text(event, "type") {
        Some("app_uninstalled") => true,
        Some("tokens_revoked") => event.get("tokens").is_some_and(|tokens| !list(tokens, "bot").is_empty()),
        _ => false,
    }
}

/// The fact is the emoji's name, with a minus sign when it was taken away.
fn reaction(event: &Value, sign: &str, known: &Known<'_>) -> Option<InboundEvent> {
    let item = event.get("item").filter(|item| text(item, "type") == Some("message"))?;
    let (channel, ts) = (text(item, "channel")?, text(item, "ts")?);
    let mut out = empty(EventKind::Reaction, channel);
    out.conversation.message_id = Some(ts.to_owned());
    out.conversation.conversation_type = (known.kind)(channel);
    out.target_message_id = Some(ts.to_owned());
    out.message_key = Some(format!("{}/{channel}/{ts}", known.own.team));
    out.sender = actor(event, known);
    out.fact = Some(format!("{sign}{}", text(event, "reaction").unwrap_or("")));
    Some(out)
}

fn member(event: &Value, words: [&str; 2], known: &Known<'_>) -> InboundEvent {
    let [own, other] = words;
    let channel = text(event, "channel").unwrap_or("");
    let mut out = empty(EventKind::Member, channel);
    let is_own = text(event, "user") == Some(&known.own.user);
    out.conversation.conversation_type = (known.kind)(channel);
    out.sender = actor(event, known);
    out.fact = Some(if is_own { own } else { other }.to_owned());
    out
}

fn removed(event: &Value, known: &Known<'_>) -> InboundEvent {
    let channel = text(event, "channel").unwrap_or("");
    let mut out = empty(EventKind::Member, channel);
    out.conversation.conversation_type = (known.kind)(channel);
    out.fact = Some("bot_removed".to_owned());
    out
}

fn lifecycle(fact: &str) -> InboundEvent {
    let mut out = empty(EventKind::Lifecycle, "");
    out.fact = Some(fact.to_owned());
    out
}

fn actor(event: &Value, known: &Known<'_>) -> Option<Sender> {
    let id = text(event, "user")?;
    let kind = if id == known.own.user { SenderKind::Bot } else { SenderKind::Human };
    Some(Sender { external_id: id.to_owned(), display_name: (known.name)(id), kind })
}
