//! Who the app is, who the people are, and the ticket for a socket.

use serde_json::{Value, json};

use super::{Reply, page};
use crate::slack::params::Params;
use crate::slack::world::{User, World};

pub(super) fn auth_test(world: &World) -> Value {
    json!({"url": format!("https://{}.slack.com/", world.domain()), "team": "Twin", "user": "loom",
        "team_id": world.cfg.team, "user_id": world.cfg.bot_user, "bot_id": world.cfg.bot_id,
        "app_id": world.cfg.app, "is_enterprise_install": false})
}

pub(super) fn team_info(world: &World) -> Value {
    json!({"team": {"id": world.cfg.team, "name": "Twin", "domain": world.domain()}})
}

/// Hands out a single-use ticket.
pub(super) fn open_connection(world: &mut World) -> Value {
    let ticket = world.ids.uuid();
    let authority = world.origin.trim_start_matches("http://");
    let url = format!("ws://{authority}/link/?ticket={ticket}&app_id={}", world.cfg.app);
    world.tickets.insert(ticket);
    json!({"url": url})
}

pub(super) fn bot_info(world: &World, params: &Params) -> Reply {
    if params.text("bot") != Some(world.cfg.bot_id.as_str()) {
        return Err("bot_not_found".into());
    }
    Ok(json!({"bot": {"id": world.cfg.bot_id, "deleted": false, "name": "loom", "app_id": world.cfg.app,
        "user_id": world.cfg.bot_user, "icons": {}}}))
}

pub(super) fn user_info(world: &World, params: &Params) -> Reply {
    let user = params.text("user").and_then(|id| world.users.get(id)).ok_or("user_not_found")?;
    Ok(json!({"user": view(world, user)}))
}

pub(super) fn user_list(world: &World, params: &Params) -> Reply {
    let users: Vec<&User> = world.users.values().collect();
    let (users, next) = page::page(&users, params, 100, |u| u.id.clone())?;
    let members: Vec<Value> = users.into_iter().map(|u| view(world, u)).collect();
    Ok(json!({"members": members, "response_metadata": {"next_cursor": next}}))
}

fn view(world: &World, user: &User) -> Value {
    json!({"id": user.id, "team_id": world.cfg.team, "name": user.name.to_lowercase(), "deleted": user.deleted,
        "real_name": user.name, "is_bot": user.is_bot, "is_app_user": false, "is_restricted": false,
        "is_ultra_restricted": false, "is_stranger": false,
        "profile": {"display_name": user.name, "real_name": user.name}})
}
