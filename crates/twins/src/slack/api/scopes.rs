//! Which scope a call needs.

use crate::slack::params::Params;
use crate::slack::world::World;

/// The scope this very call needs; none if any token will do.
pub(super) fn needed(world: &World, method: &str, params: &Params) -> Option<String> {
    let family = || {
        let channel = params.text("channel").and_then(|id| world.channels.get(id));
        channel.map_or("channels", |c| c.kind.scope_family())
    };
    Some(match method {
        "conversations.history" | "conversations.replies" => format!("{}:history", family()),
        "conversations.info" | "conversations.members" => format!("{}:read", family()),
        "conversations.list" | "users.conversations" => list_scope(params),
        "conversations.open" => "im:write".to_owned(),
        _ => accepted(method).first().copied()?.to_owned(),
    })
}

fn list_scope(params: &Params) -> String {
    let first = params.text("types").unwrap_or("public_channel").split(',').next().unwrap_or_default();
    let family = match first.trim() {
        "private_channel" => "groups",
        "im" => "im",
        "mpim" => "mpim",
        _ => "channels",
    };
    format!("{family}:read")
}

/// Every scope the method takes, as in `x-accepted-oauth-scopes`.
pub(super) fn accepted(method: &str) -> &'static [&'static str] {
    match method {
        "apps.connections.open" => &["connections:write"],
        "chat.postMessage" | "chat.postEphemeral" | "chat.update" | "chat.delete" => &["chat:write"],
        "reactions.add" | "reactions.remove" => &["reactions:write"],
        "reactions.get" => &["reactions:read"],
        "files.info" => &["files:read"],
        "files.getUploadURLExternal" | "files.completeUploadExternal" => &["files:write"],
        "users.info" | "users.list" | "bots.info" => &["users:read"],
        "team.info" => &["team:read"],
        "conversations.join" => &["channels:join"],
        "conversations.history" | "conversations.replies" => {
            &["channels:history", "groups:history", "im:history", "mpim:history"]
        }
        "conversations.info" | "conversations.members" | "conversations.list" | "users.conversations" => {
            &["channels:read", "groups:read", "im:read", "mpim:read"]
        }
        "conversations.open" => &["im:write", "mpim:write"],
        _ => &[],
    }
}
