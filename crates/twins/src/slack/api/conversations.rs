//! Conversations: lists, facts, members, direct messages.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Reply, page, visible_channel};
use crate::slack::params::Params;
use crate::slack::world::{Channel, World};
use crate::slack::{ChannelKind, ChannelSpec};

/// `conversations.list` and `users.conversations`: what the bot can see, or has joined.
pub(super) fn list(world: &World, params: &Params, method: &str) -> Reply {
    let joined_only = method == "users.conversations";
    let types: BTreeSet<&str> =
        params.text("types").unwrap_or("public_channel").split(',').map(str::trim).collect();
    let wanted = |c: &&Channel| {
        let seen = world.bot_is_in(&c.id) || (c.kind == ChannelKind::Channel && !joined_only);
        seen && types.contains(c.kind.list_type()) && !(c.archived && params.flag("exclude_archived"))
    };
    let channels: Vec<&Channel> = world.channels.values().filter(wanted).collect();
    let (channels, next) = page::page(&channels, params, 100, |c| c.id.clone())?;
    let channels: Vec<Value> = channels.into_iter().map(|c| view(world, c)).collect();
    Ok(json!({"channels": channels, "response_metadata": {"next_cursor": next}}))
}

pub(super) fn info(world: &World, params: &Params) -> Reply {
    let id = visible_channel(world, params, "channel")?;
    let channel = world.channels.get(&id).ok_or("channel_not_found")?;
    let mut view = view(world, channel);
    if let (true, Some(view)) = (params.flag("include_num_members"), view.as_object_mut()) {
        view.insert("num_members".into(), json!(channel.members.len()));
    }
    Ok(json!({"channel": view}))
}

pub(super) fn members(world: &World, params: &Params) -> Reply {
    let id = visible_channel(world, params, "channel")?;
    let channel = world.channels.get(&id).ok_or("channel_not_found")?;
    let members: Vec<&String> = channel.members.iter().collect();
    let (members, next) = page::page(&members, params, 100, |m| (*m).clone())?;
    Ok(json!({"members": members, "response_metadata": {"next_cursor": next}}))
}

/// `conversations.open`: finds or makes the direct message with the named people.
pub(super) fn open(world: &mut World, params: &Params) -> Reply {
    if params.text("channel").is_some() {
        let id = visible_channel(world, params, "channel")?;
        return Ok(json!({"channel": {"id": id}, "no_op": true, "already_open": true}));
    }
    let users = params.text("users").ok_or("users_list_not_supplied")?;
    let users: Vec<String> = users.split(',').map(|u| u.trim().to_owned()).collect();
    let id = direct_message(world, &users)?;
    Ok(json!({"channel": {"id": id}}))
}

/// The conversation of exactly these people and the bot.
pub(super) fn direct_message(world: &mut World, users: &[String]) -> Result<String, super::Failure> {
    for user in users {
        let user = world.users.get(user).ok_or("user_not_found")?;
        if user.is_bot {
            return Err("cannot_dm_bot".into());
        }
    }
    let mut members: BTreeSet<String> = users.iter().cloned().collect();
    members.insert(world.cfg.bot_user.clone());
    let direct = |c: &&Channel| matches!(c.kind, ChannelKind::Im | ChannelKind::Mpim) && c.members == members;
    if let Some(channel) = world.channels.values().find(direct) {
        return Ok(channel.id.clone());
    }
    let (kind, prefix) = if users.len() == 1 { (ChannelKind::Im, "D") } else { (ChannelKind::Mpim, "G") };
    let id = world.ids.id(prefix);
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    world.add_channel(ChannelSpec::new(&id, "", kind, &members));
    Ok(id)
}

pub(super) fn join(world: &mut World, params: &Params) -> Reply {
    let id = visible_channel(world, params, "channel")?;
    let bot = world.cfg.bot_user.clone();
    if !world.bot_is_in(&id) {
        if let Some(channel) = world.channels.get_mut(&id) {
            channel.members.insert(bot.clone());
        }
        world.emit_member("member_joined_channel", &bot, &id);
    }
    info(world, params)
}

fn view(world: &World, channel: &Channel) -> Value {
    let kind = channel.kind;
    let mut view = json!({"id": channel.id, "is_channel": kind == ChannelKind::Channel,
        "is_group": kind == ChannelKind::Group, "is_im": kind == ChannelKind::Im,
        "is_mpim": kind == ChannelKind::Mpim, "is_archived": channel.archived, "is_ext_shared": channel.ext_shared,
        "is_private": kind != ChannelKind::Channel, "context_team_id": world.cfg.team});
    let Some(fields) = view.as_object_mut() else { return view };
    if kind == ChannelKind::Im {
        let person = channel.members.iter().find(|m| **m != world.cfg.bot_user);
        fields.insert("user".into(), json!(person));
    } else {
        fields.insert("name".into(), json!(channel.name));
        fields.insert("is_member".into(), json!(world.bot_is_in(&channel.id)));
        fields.insert("topic".into(), json!({"value": ""}));
        fields.insert("purpose".into(), json!({"value": ""}));
    }
    view
}
