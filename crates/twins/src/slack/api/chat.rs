//! Writing messages.

mod content;

use serde_json::{Map, Value, json};

use content::{Content, TEXT_SPLIT_CHARS, content, metadata};

use super::{Failure, Reply, conversations, visible_channel, writable_channel};
use crate::slack::blocks;
use crate::slack::message::{Message, MetadataView};
use crate::slack::params::Params;
use crate::slack::world::World;

/// `chat.postMessage`.
pub(super) fn post(world: &mut World, params: &Params) -> Reply {
    let channel = match params.text("channel") {
        Some(user) if world.users.contains_key(user) => {
            conversations::direct_message(world, &[user.to_owned()])?
        }
        _ => writable_channel(world, params, "channel")?,
    };
    let (content, metadata) = (content(params)?, metadata(params)?);
    let split = world.knobs.split_text && !content.is_markdown && content.blocks.is_none();
    let texts = if split { pieces(&content.text) } else { vec![content.text.clone()] };
    let mut first = None;
    for text in texts {
        let message = message(world, params, &content, text, metadata.clone());
        let (ts, _) = world.publish(&channel, message);
        first.get_or_insert(ts);
    }
    let ts = first.unwrap_or_default();
    let mut body = json!({"channel": channel, "ts": ts, "message": shown(world, &channel, &ts)});
    if let (true, Some(body)) = (content.truncated, body.as_object_mut()) {
        body.insert("warning".into(), json!("message_truncated"));
        body.insert("response_metadata".into(), json!({"warnings": ["message_truncated"]}));
    }
    Ok(body)
}

fn message(
    world: &mut World,
    params: &Params,
    content: &Content,
    text: String,
    metadata: Option<Value>,
) -> Message {
    let block_id = world.ids.secret();
    let blocks = content.blocks.clone().unwrap_or_else(|| blocks::rich_text(&text, &block_id));
    let thread_ts = params.text("thread_ts").map(str::to_owned);
    Message {
        text,
        blocks: Some(blocks),
        attachments: content.attachments.clone(),
        broadcast: thread_ts.is_some() && params.flag("reply_broadcast"),
        thread_ts,
        metadata,
        ..world.app_message()
    }
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(TEXT_SPLIT_CHARS).map(|c| c.iter().collect()).collect();
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

fn shown(world: &World, channel: &str, ts: &str) -> Map<String, Value> {
    world.message(channel, ts).map(|m| m.view(world, channel, MetadataView::Full)).unwrap_or_default()
}

/// `chat.postEphemeral`: only one member sees it, and it cannot be read back.
pub(super) fn post_ephemeral(world: &mut World, params: &Params) -> Reply {
    let channel = writable_channel(world, params, "channel")?;
    let user = params.text("user").ok_or("user_not_in_channel")?.to_owned();
    if !world.channels.get(&channel).is_some_and(|c| c.members.contains(&user)) {
        return Err("user_not_in_channel".into());
    }
    let content = content(params)?;
    let text = content.text.clone();
    let mut message = message(world, params, &content, text, None);
    message.ts = world.ids.ts();
    message.ephemeral_to = Some(user);
    let ts = message.ts.clone();
    world.store(&channel, message);
    Ok(json!({"message_ts": ts}))
}

/// `chat.update`: own messages only.
pub(super) fn update(world: &mut World, params: &Params) -> Reply {
    let channel = writable_channel(world, params, "channel")?;
    let ts = own_message(world, params, &channel, "cant_update_message")?;
    let (content, metadata) = (content(params)?, metadata(params)?);
    if !content.is_markdown && content.text.chars().count() > TEXT_SPLIT_CHARS {
        return Err("msg_too_long".into());
    }
    let previous = shown(world, &channel, &ts);
    let now = world.ids.ts();
    let user = world.cfg.bot_user.clone();
    if let Some(message) = world.message_mut(&channel, &ts) {
        message.edit(&now, &user, content.text.clone());
        message.blocks = content.blocks.or_else(|| Some(blocks::rich_text(&content.text, &now)));
        message.attachments = content.attachments;
        message.metadata = metadata.or_else(|| message.metadata.take());
    }
    world.emit_changed(&channel, &ts, previous);
    Ok(json!({"channel": channel, "ts": ts, "text": content.text, "message": shown(world, &channel, &ts)}))
}

/// `chat.delete`: own messages only.
pub(super) fn delete(world: &mut World, params: &Params) -> Reply {
    let channel = writable_channel(world, params, "channel")?;
    let ts = own_message(world, params, &channel, "cant_delete_message")?;
    let previous = shown(world, &channel, &ts);
    let now = world.ids.ts();
    if let Some(message) = world.message_mut(&channel, &ts) {
        message.deleted_at = Some(now);
    }
    world.emit_deleted(&channel, &ts, previous);
    Ok(json!({"channel": channel, "ts": ts}))
}

fn own_message(world: &World, params: &Params, channel: &str, refusal: &str) -> Result<String, Failure> {
    let ts = params.text("ts").ok_or("message_not_found")?;
    let message = world.message(channel, ts).filter(|m| m.is_visible()).ok_or("message_not_found")?;
    if message.bot_id.as_deref() != Some(world.cfg.bot_id.as_str()) {
        return Err(refusal.into());
    }
    Ok(message.ts.clone())
}

/// `chat.getPermalink`.
pub(super) fn permalink(world: &World, params: &Params) -> Reply {
    let channel = visible_channel(world, params, "channel")?;
    let ts = params.text("message_ts").ok_or("message_not_found")?;
    let message = world.message(&channel, ts).filter(|m| m.is_visible()).ok_or("message_not_found")?;
    let mut url = format!("https://{}.slack.com/archives/{channel}/p{}", world.domain(), ts.replace('.', ""));
    if message.is_reply() {
        url = format!("{url}?thread_ts={}&cid={channel}", message.root());
    }
    Ok(json!({"channel": channel, "permalink": url}))
}
