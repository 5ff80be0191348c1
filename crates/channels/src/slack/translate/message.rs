//! Messages, edits and recalls.

use loom_domain::message::{Attachment, AttachmentStatus, EventKind, Mention, Sender, SenderKind};
use loom_domain::{ConversationType, InboundEvent, PartId, Timestamp, text::prefix};
use loom_markup::slack::{from_slack, is_bare_mention, slack_mentions};
use serde_json::Value;

use super::super::METADATA_TYPE;
use super::super::wire::{flag, list, text, ts_ms};
use super::{Known, Own, empty, raw};
use crate::HistoryMessage;

/// Text that is kept, bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Files of one message that are listed.
const FILES_MAX: usize = 100;
/// Subtypes that tell nothing an Agent needs.
const IGNORED: &[&str] = &[
    "channel_join",
    "channel_leave",
    "channel_topic",
    "channel_purpose",
    "channel_name",
    "channel_archive",
    "channel_unarchive",
    "channel_posting_permissions",
    "group_join",
    "group_leave",
    "group_topic",
    "group_purpose",
    "group_name",
    "group_archive",
    "group_unarchive",
    "message_replied",
];

/// Subtypes that are messages.
const MESSAGES: &[&str] = &["file_share", "thread_broadcast", "me_message", "bot_message"];

/// Translates a `message` or `app_mention` event; none for what is ignored.
pub(super) fn translate(event: &Value, known: &Known<'_>) -> Option<InboundEvent> {
    let channel = text(event, "channel").unwrap_or("");
    match text(event, "subtype") {
        None => Some(message(event, event, channel, known)),
        Some(subtype) if MESSAGES.contains(&subtype) => Some(message(event, event, channel, known)),
        Some("message_changed") => changed(event, channel, known),
        Some("message_deleted") => text(event, "deleted_ts").map(|ts| recall(event, channel, ts, known)),
        Some(subtype) if IGNORED.contains(&subtype) => None,
        Some(subtype) => {
            let mut out = message(event, event, channel, known);
            out.kind = EventKind::Unsupported;
            out.fact = Some(subtype.to_owned());
            Some(out)
        }
    }
}

/// Kind of the conversation, when the event tells it.
pub(in super::super) fn told_kind(event: &Value) -> Option<ConversationType> {
    match text(event, "channel_type")? {
        "im" | "app_home" => Some(ConversationType::Dm),
        "mpim" => Some(ConversationType::GroupDm),
        "group" => Some(ConversationType::Group),
        "channel" => Some(ConversationType::Channel),
        _ => None,
    }
}

/// A message read from a history.
pub(in super::super) fn from_history(
    item: &Value,
    channel: &str,
    known: &Known<'_>,
) -> Option<HistoryMessage> {
    let ts = text(item, "ts")?;
    if text(item, "subtype").is_some_and(|subtype| !MESSAGES.contains(&subtype)) {
        return None;
    }
    let mut event = message(item, item, channel, known);
    event.event_id = format!("history/{channel}/{ts}");
    event.raw = raw(item);
    Some(HistoryMessage { event, own: is_own(item, known.own), part: part_of(item) })
}

/// Part named in the metadata of one of our messages.
pub(in super::super) fn part_of(item: &Value) -> Option<PartId> {
    let metadata =
        item.get("metadata").filter(|metadata| text(metadata, "event_type") == Some(METADATA_TYPE))?;
    metadata.get("event_payload").and_then(|payload| text(payload, "part"))?.parse().ok()
}

/// Whether a message is our app's own.
pub(in super::super) fn is_own(item: &Value, own: &Own) -> bool {
    let is = |key: &str, id: &str| !id.is_empty() && text(item, key) == Some(id);
    is("bot_id", &own.bot) || is("user", &own.user) || (!own.app.is_empty() && app_of(item) == Some(&own.app))
}

/// Ids of the files in one of our own messages, with the message's ts.
pub(in super::super) fn own_files(event: &Value, own: &Own) -> Vec<(String, String)> {
    let Some(ts) = text(event, "ts").filter(|_| is_own(event, own)) else { return Vec::new() };
    list(event, "files")
        .iter()
        .filter_map(|file| text(file, "id"))
        .map(|file| (file.to_owned(), ts.to_owned()))
        .collect()
}

/// `event` tells the conversation, `item` the content; they differ for edits only.
fn message(event: &Value, item: &Value, channel: &str, known: &Known<'_>) -> InboundEvent {
    let mut out = empty(EventKind::Message, channel);
    let body = text(item, "text").unwrap_or("");
    let mentioned = slack_mentions(body, item.get("blocks").unwrap_or(&Value::Null));
    let thread = text(item, "thread_ts").filter(|root| text(item, "ts") != Some(*root));
    out.occurred_at = text(item, "ts").and_then(ts_ms).map(Timestamp);
    out.conversation.thread_id = thread.map(str::to_owned);
    out.conversation.message_id = text(item, "ts").map(str::to_owned);
    set_kind(&mut out, event, channel, known);
    out.message_key =
        out.conversation.message_id.as_ref().map(|ts| format!("{}/{channel}/{ts}", known.own.team));
    out.cursor.clone_from(&out.conversation.message_id);
    out.sender = sender(item, known);
    out.bare_mention = is_bare_mention(body, &known.own.user) && list(item, "files").is_empty();
    let plain = from_slack(body, Some(&known.own.user), |id| (known.name)(id));
    prefix(&plain, TEXT_BYTES_MAX).clone_into(&mut out.content.text);
    out.content.truncated = plain.len() > TEXT_BYTES_MAX;
    out.content.attachments = list(item, "files").iter().take(FILES_MAX).filter_map(attachment).collect();
    out.mentions = mentioned
        .into_iter()
        .map(|id| Mention { display_name: (known.name)(&id), external_id: id })
        .collect();
    // An app_mention event is evidence by itself.
    let is_told = out.mentions.iter().any(|mention| mention.external_id == known.own.user);
    if text(event, "type") == Some("app_mention") && !is_told {
        out.mentions.push(Mention { external_id: known.own.user.clone(), display_name: None });
    }
    out
}

fn set_kind(out: &mut InboundEvent, event: &Value, channel: &str, known: &Known<'_>) {
    out.conversation.conversation_type = told_kind(event).or_else(|| (known.kind)(channel));
    out.conversation.platform_type = text(event, "channel_type").map(str::to_owned);
    if out.conversation.thread_id.is_some() {
        out.parent_type = out.conversation.conversation_type;
    }
}

fn changed(event: &Value, channel: &str, known: &Known<'_>) -> Option<InboundEvent> {
    let (new, old) = (event.get("message")?, event.get("previous_message").unwrap_or(&Value::Null));
    let ts = text(new, "ts")?;
    if text(new, "subtype") == Some("tombstone") {
        return Some(recall(event, channel, ts, known));
    }
    // Unfurls and reply counters change the message too, but nobody edited it.
    let is_real = new.get("edited").is_some_and(Value::is_object)
        && (old.is_null()
            || ["text", "blocks"].iter().any(|key| new.get(key) != old.get(key))
            || file_ids(new) != file_ids(old));
    if !is_real {
        return None;
    }
    let mut out = message(event, new, channel, known);
    out.kind = EventKind::Edit;
    out.target_message_id = Some(ts.to_owned());
    out.occurred_at = text(event, "event_ts").or_else(|| text(event, "ts")).and_then(ts_ms).map(Timestamp);
    Some(out)
}

fn recall(event: &Value, channel: &str, ts: &str, known: &Known<'_>) -> InboundEvent {
    let mut out = empty(EventKind::Recall, channel);
    let previous = event.get("previous_message").unwrap_or(&Value::Null);
    out.conversation.message_id = Some(ts.to_owned());
    out.conversation.thread_id = text(previous, "thread_ts").filter(|root| *root != ts).map(str::to_owned);
    set_kind(&mut out, event, channel, known);
    out.target_message_id = Some(ts.to_owned());
    out.message_key = Some(format!("{}/{channel}/{ts}", known.own.team));
    out.sender = sender(previous, known);
    out.occurred_at = text(event, "event_ts").or_else(|| text(event, "ts")).and_then(ts_ms).map(Timestamp);
    out
}

fn file_ids(message: &Value) -> Vec<&str> {
    list(message, "files").iter().filter_map(|file| text(file, "id")).collect()
}

fn app_of(item: &Value) -> Option<&str> {
    text(item, "app_id").or_else(|| item.get("bot_profile").and_then(|profile| text(profile, "app_id")))
}

/// A post of our own app under another bot id (a webhook) is known by the app.
fn sender(item: &Value, known: &Known<'_>) -> Option<Sender> {
    let own = known.own;
    let (user, bot) = (text(item, "user"), text(item, "bot_id"));
    let is_own_app = !own.app.is_empty() && app_of(item) == Some(&own.app) && user != Some(&own.user);
    let is_bot = bot.is_some() || text(item, "subtype") == Some("bot_message") || user == Some("USLACKBOT");
    let (id, kind) = match (is_own_app && bot != Some(&own.bot), is_bot) {
        (true, true) => (own.app.as_str(), SenderKind::App),
        (_, true) => (user.or(bot)?, SenderKind::Bot),
        (_, false) => (user?, if user == Some(&own.user) { SenderKind::Bot } else { SenderKind::Human }),
    };
    let display_name = (known.name)(id).or_else(|| text(item, "username").map(str::to_owned));
    Some(Sender { external_id: id.to_owned(), display_name, kind })
}

fn attachment(file: &Value) -> Option<Attachment> {
    let id = text(file, "id")?;
    let is_gone = text(file, "mode") == Some("tombstone");
    Some(Attachment {
        reference: id.to_owned(),
        name: text(file, "name").or_else(|| text(file, "title")).unwrap_or(id).to_owned(),
        mime_type: text(file, "mimetype").map(str::to_owned),
        size: file.get("size").and_then(Value::as_u64),
        status: if is_gone { AttachmentStatus::Failed } else { AttachmentStatus::Pending },
        reason: is_gone.then(|| "deleted".to_owned()),
        artifact_id: None,
        sha256: None,
    })
}

/// Whether one of our messages keeps from us which Part it is. All our text carries metadata, so a text without
/// any may be one whose metadata is not shown.
pub(in super::super) fn hides_metadata(item: &Value) -> bool {
    match item.get("metadata") {
        Some(metadata) => {
            text(metadata, "event_type") == Some(METADATA_TYPE)
                && metadata.get("event_payload").is_none_or(is_empty)
        }
        None => text(item, "subtype").is_none() && list(item, "files").is_empty(),
    }
}

fn is_empty(payload: &Value) -> bool {
    payload.as_object().is_none_or(serde_json::Map::is_empty)
}

/// Kind of a conversation object (`conversations.info`, `conversations.list`).
pub(in super::super) fn kind_of_conversation(conversation: &Value) -> ConversationType {
    if flag(conversation, "is_im") {
        ConversationType::Dm
    } else if flag(conversation, "is_mpim") {
        ConversationType::GroupDm
    } else if flag(conversation, "is_private") || flag(conversation, "is_group") {
        ConversationType::Group
    } else {
        ConversationType::Channel
    }
}
