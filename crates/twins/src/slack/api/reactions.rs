//! Reactions of the app.

use serde_json::{Value, json};

use super::{Failure, Reply, joined_channel, writable_channel};
use crate::slack::message::Message;
use crate::slack::params::Params;
use crate::slack::people;
use crate::slack::world::World;

/// Different emoji one message takes.
const REACTIONS_MAX: usize = 50;

fn target(world: &World, params: &Params) -> Result<(String, String, String), Failure> {
    let channel = writable_channel(world, params, "channel")?;
    let ts = params.text("timestamp").ok_or("no_item_specified")?;
    let name = params.text("name").map(|n| n.trim_matches(':')).ok_or("invalid_name")?;
    let valid = |c: char| c.is_alphanumeric() || "_-+':".contains(c);
    if name.is_empty() || !name.chars().all(valid) {
        return Err("invalid_name".into());
    }
    let message = world.message(&channel, ts).filter(|m| m.is_visible()).ok_or("message_not_found")?;
    Ok((channel.clone(), message.ts.clone(), name.to_owned()))
}

pub(super) fn add(world: &mut World, params: &Params) -> Reply {
    let (channel, ts, name) = target(world, params)?;
    let bot = world.cfg.bot_user.clone();
    if world.message(&channel, &ts).is_some_and(|m| m.reactions.len() >= REACTIONS_MAX) {
        return Err("too_many_reactions".into());
    }
    if people::add_reaction(world, &bot, &channel, &ts, &name) {
        Ok(json!({}))
    } else {
        Err("already_reacted".into())
    }
}

pub(super) fn remove(world: &mut World, params: &Params) -> Reply {
    let (channel, ts, name) = target(world, params)?;
    let bot = world.cfg.bot_user.clone();
    if people::remove_reaction(world, &bot, &channel, &ts, &name) {
        Ok(json!({}))
    } else {
        Err("no_reaction".into())
    }
}

pub(super) fn get(world: &World, params: &Params) -> Reply {
    let channel = joined_channel(world, params, "channel")?;
    let ts = params.text("timestamp").ok_or("no_item_specified")?;
    let message = world.message(&channel, ts).filter(|m| m.is_visible()).ok_or("message_not_found")?;
    Ok(json!({"type": "message", "channel": channel, "message": reactions_of(message)}))
}

fn reactions_of(message: &Message) -> Value {
    json!({"type": "message", "ts": message.ts, "text": message.text, "user": message.user,
        "reactions": message.reactions_view()})
}
