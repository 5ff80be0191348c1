//! What people (and other bots) do in the simulated team.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::blocks;
use super::error::TwinError;
use super::message::{Message, MetadataView, Reaction};
use super::world::World;

/// A message somebody writes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    /// Conversation id.
    pub channel: String,
    /// Author; with `bot` it may be left empty.
    #[serde(default)]
    pub user: String,
    /// Wire text: control tokens such as `<@U0BOT>` count, `& < >` are escaped by the author.
    #[serde(default)]
    pub text: String,
    /// Puts the bot's mention token before the text.
    #[serde(default)]
    pub mention: bool,
    /// Treats the text as typed: everything is escaped, so nothing is a token.
    #[serde(default)]
    pub typed: bool,
    /// Thread root.
    #[serde(default)]
    pub thread_ts: Option<String>,
    /// Shows a reply in the conversation too.
    #[serde(default)]
    pub broadcast: bool,
    /// Files shared with the message.
    #[serde(default)]
    pub files: Vec<NewFile>,
    /// Another bot's id (`B…`).
    #[serde(default)]
    pub bot: Option<String>,
    /// Message subtype, such as `bot_message` or `me_message`.
    #[serde(default)]
    pub subtype: Option<String>,
}

impl Post {
    /// A plain message.
    pub fn new(channel: &str, user: &str, text: &str) -> Self {
        Self { channel: channel.into(), user: user.into(), text: text.into(), ..Self::default() }
    }

    /// The same with the bot's mention before the text.
    pub fn mention(channel: &str, user: &str, text: &str) -> Self {
        Self { mention: true, ..Self::new(channel, user, text) }
    }

    /// The same as a reply in a thread.
    pub fn in_thread(self, root: &str) -> Self {
        Self { thread_ts: Some(root.into()), ..self }
    }

    /// The same with one more file.
    pub fn with_file(mut self, name: &str, content: &[u8]) -> Self {
        self.files.push(NewFile {
            name: name.into(),
            text: None,
            base64: Some(STANDARD.encode(content)),
            mode: None,
        });
        self
    }
}

/// A file a person shares; its bytes as text or Base64.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFile {
    /// File name.
    pub name: String,
    /// Content as text.
    #[serde(default)]
    pub text: Option<String>,
    /// Content as Base64.
    #[serde(default)]
    pub base64: Option<String>,
    /// `tombstone` or `hidden_by_limit` for a file that cannot be read.
    #[serde(default)]
    pub mode: Option<String>,
}

impl NewFile {
    fn bytes(&self) -> Result<Bytes, TwinError> {
        match (&self.text, &self.base64) {
            (Some(text), _) => Ok(Bytes::from(text.clone())),
            (None, Some(encoded)) => {
                STANDARD.decode(encoded).map(Bytes::from).map_err(|e| TwinError::Unknown(e.to_string()))
            }
            (None, None) => Ok(Bytes::new()),
        }
    }
}

/// What became of a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Posted {
    /// Conversation id.
    pub channel: String,
    /// Timestamp id of the message.
    pub ts: String,
    /// Events sent to the app.
    pub event_ids: Vec<String>,
    /// Files made.
    pub file_ids: Vec<String>,
}

/// Writes a message as a person or another bot.
pub(super) fn post(world: &mut World, post: Post) -> Result<Posted, TwinError> {
    if !world.channels.contains_key(&post.channel) {
        return Err(TwinError::unknown("channel", &post.channel));
    }
    if post.bot.is_none() && !world.users.contains_key(&post.user) {
        return Err(TwinError::unknown("user", &post.user));
    }
    let mut file_ids = Vec::new();
    for file in &post.files {
        let id = world.add_file(&post.user, &file.name, file.bytes()?);
        if let (Some(mode), Some(record)) = (&file.mode, world.files.get_mut(&id)) {
            record.mode.clone_from(mode);
        }
        file_ids.push(id);
    }
    let channel = post.channel.clone();
    let message = message(world, post, file_ids.clone());
    let (ts, event_ids) = world.publish(&channel, message);
    Ok(Posted { channel, ts, event_ids, file_ids })
}

fn message(world: &mut World, post: Post, files: Vec<String>) -> Message {
    let mut text = if post.typed { blocks::escape(&post.text) } else { post.text };
    if post.mention {
        text = format!("<@{}> {text}", world.cfg.bot_user);
    }
    let subtype = post.subtype.or_else(|| (!files.is_empty()).then(|| "file_share".to_owned()));
    let block_id = world.ids.secret();
    Message {
        user: Some(post.user).filter(|u| !u.is_empty()),
        app_id: post.bot.as_ref().map(|_| "A0OTHER".to_owned()),
        username: post.bot.clone(),
        client_msg_id: post.bot.is_none().then(|| world.ids.uuid()),
        bot_id: post.bot,
        blocks: (subtype.as_deref() != Some("bot_message")).then(|| blocks::rich_text(&text, &block_id)),
        subtype,
        text,
        thread_ts: post.thread_ts,
        broadcast: post.broadcast,
        files,
        ..Message::default()
    }
}

fn view(
    world: &World,
    channel: &str,
    ts: &str,
) -> Result<serde_json::Map<String, serde_json::Value>, TwinError> {
    let message = world.message(channel, ts).ok_or_else(|| TwinError::unknown("message", ts))?;
    Ok(message.view(world, channel, MetadataView::Full))
}

/// The author changes the text.
pub(super) fn edit(world: &mut World, channel: &str, ts: &str, text: &str) -> Result<Vec<String>, TwinError> {
    let previous = view(world, channel, ts)?;
    let now = world.ids.ts();
    if let Some(message) = world.message_mut(channel, ts) {
        let user = message.user.clone().unwrap_or_default();
        message.edit(&now, &user, text.to_owned());
        message.blocks = Some(blocks::rich_text(text, &now));
    }
    Ok(world.emit_changed(channel, ts, previous))
}

/// A link preview appears: a change without an edit.
pub(super) fn unfurl(world: &mut World, channel: &str, ts: &str) -> Result<Vec<String>, TwinError> {
    let previous = view(world, channel, ts)?;
    if let Some(message) = world.message_mut(channel, ts) {
        let preview = serde_json::json!([{"id": 1, "title": "preview", "from_url": "https://example.test/"}]);
        message.attachments = Some(preview);
    }
    Ok(world.emit_changed(channel, ts, previous))
}

/// The author deletes the message.
pub(super) fn delete(world: &mut World, channel: &str, ts: &str) -> Result<Vec<String>, TwinError> {
    let previous = view(world, channel, ts)?;
    let now = world.ids.ts();
    if let Some(message) = world.message_mut(channel, ts) {
        message.deleted_at = Some(now);
    }
    Ok(world.emit_deleted(channel, ts, previous))
}

/// Adds a reaction; false if this user already has it there.
pub(super) fn add_reaction(world: &mut World, user: &str, channel: &str, ts: &str, name: &str) -> bool {
    let Some(message) = world.message_mut(channel, ts) else { return false };
    let at = message.reactions.iter().position(|r| r.name == name).unwrap_or_else(|| {
        message.reactions.push(Reaction { name: name.into(), users: Vec::new() });
        message.reactions.len() - 1
    });
    let Some(reaction) = message.reactions.get_mut(at) else { return false };
    if reaction.users.iter().any(|u| u == user) {
        return false;
    }
    reaction.users.push(user.into());
    world.emit_reaction("reaction_added", user, channel, ts, name);
    true
}

/// Removes a reaction; false if this user does not have it there.
pub(super) fn remove_reaction(world: &mut World, user: &str, channel: &str, ts: &str, name: &str) -> bool {
    let Some(message) = world.message_mut(channel, ts) else { return false };
    let reaction = message.reactions.iter_mut().find(|r| r.name == name && r.users.iter().any(|u| u == user));
    let Some(reaction) = reaction else { return false };
    reaction.users.retain(|u| u != user);
    message.reactions.retain(|r| !r.users.is_empty());
    world.emit_reaction("reaction_removed", user, channel, ts, name);
    true
}

/// Somebody joins or leaves a conversation.
pub(super) fn membership(world: &mut World, channel: &str, user: &str, joins: bool) -> Result<(), TwinError> {
    let members = world.channels.get_mut(channel).map(|c| &mut c.members);
    let members = members.ok_or_else(|| TwinError::unknown("channel", channel))?;
    let changed = if joins { members.insert(user.into()) } else { members.remove(user) };
    if changed && (world.bot_is_in(channel) || user == world.cfg.bot_user) {
        world.emit_member(if joins { "member_joined_channel" } else { "member_left_channel" }, user, channel);
    }
    Ok(())
}
