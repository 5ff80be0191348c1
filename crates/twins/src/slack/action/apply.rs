//! What each action does to the world.

use std::time::Duration;

use serde_json::{Value, json};

use super::Action;
use crate::slack::delivery::Command;
use crate::slack::error::TwinError;
use crate::slack::people;
use crate::slack::socket::disconnect_frame;
use crate::slack::world::World;

/// Time between a `warning` and the close.
const WARNING: Duration = Duration::from_secs(10);

type Done = Result<Value, TwinError>;

/// Applies an action; the answer is JSON for the HTTP side.
pub(in crate::slack) fn apply(world: &mut World, action: Action) -> Done {
    match action {
        Action::Post(post) => return Ok(json!(people::post(world, post)?)),
        Action::Edit { channel, ts, text } => return events(&people::edit(world, &channel, &ts, &text)?),
        Action::Delete { channel, ts } => return events(&people::delete(world, &channel, &ts)?),
        Action::Unfurl { channel, ts } => return events(&people::unfurl(world, &channel, &ts)?),
        Action::React { channel, ts, user, name } => {
            return changed(people::add_reaction(world, &user, &channel, &ts, &name));
        }
        Action::Unreact { channel, ts, user, name } => {
            return changed(people::remove_reaction(world, &user, &channel, &ts, &name));
        }
        Action::Join { channel, user } => people::membership(world, &channel, &user, true)?,
        Action::Leave { channel, user } => people::membership(world, &channel, &user, false)?,
        Action::AddUser { id, name } => world.add_user(&id, &name, false),
        Action::AddChannel(spec) => world.add_channel(spec),
        Action::Archive { channel } => {
            let found = world.channels.get_mut(&channel);
            found.ok_or_else(|| TwinError::unknown("channel", &channel))?.archived = true;
        }
        other => return provider(world, other),
    }
    Ok(json!({}))
}

/// Acts of the provider rather than of people.
fn provider(world: &mut World, action: Action) -> Done {
    match action {
        Action::Uninstall {} => {
            world.refuse_tokens(None, "account_inactive");
            return events(&world.emit(&json!({"type": "app_uninstalled"})));
        }
        Action::RevokeTokens {} => {
            world.refuse_tokens(None, "token_revoked");
            let tokens = json!({"oauth": [], "bot": [world.cfg.bot_user]});
            return events(&world.emit(&json!({"type": "tokens_revoked", "tokens": tokens})));
        }
        Action::Event { event } => return events(&world.emit(&event)),
        Action::Duplicate { event_id, copies } => return duplicate(world, &event_id, copies),
        Action::RefuseToken { token, code } => world.refuse_tokens(token.as_deref(), &code),
        Action::RestoreTokens {} => world.restore_tokens(),
        Action::AddToken { token } => world.add_bot_token(token),
        Action::RemoveScope { scope } => world.take_scope(&scope),
        Action::AddScope { scope } => world.give_scope(&scope),
        Action::AppRateLimited { minute } => {
            let payload = json!({"token": "legacy-verification-token", "type": "app_rate_limited",
                "team_id": world.cfg.team, "minute_rate_limited": minute, "api_app_id": world.cfg.app});
            world.queue("events_api", payload);
        }
        Action::Payload { kind, payload } => world.queue(&kind, payload),
        Action::Redeliver { event_id } => {
            if !world.delivery.redeliver(&event_id) {
                return Err(TwinError::unknown("event", &event_id));
            }
        }
        Action::Fault(fault) => world.faults.push(fault),
        Action::ClearFaults {} => world.faults.clear(),
        other => sockets(world, &other),
    }
    Ok(json!({}))
}

/// Acts on every open socket.
fn sockets(world: &mut World, action: &Action) {
    let warning = world.delivery.scaled(WARNING);
    for socket in &mut world.delivery.sockets {
        let commands = match action {
            Action::Disconnect { reason } => {
                socket.retiring = true;
                let wait = if reason == "warning" { warning } else { Duration::ZERO };
                vec![Command::Send(disconnect_frame(reason)), Command::CloseAfter(wait)]
            }
            Action::DropSockets {} => vec![Command::Abort],
            Action::StallSockets {} => {
                socket.stalled = true;
                vec![Command::Stall]
            }
            _ => Vec::new(),
        };
        for command in commands {
            // A full queue belongs to a socket nobody reads; it goes the same way.
            let _ = socket.tx.try_send(command);
        }
    }
}

fn duplicate(world: &mut World, event_id: &str, copies: u32) -> Done {
    let payload = world.delivery.past_payload(event_id);
    let payload = payload.ok_or_else(|| TwinError::unknown("event", event_id))?;
    let mut ids = Vec::new();
    for _ in 0..copies {
        let (mut copy, id) = (payload.clone(), world.ids.id("Ev"));
        if let Some(copy) = copy.as_object_mut() {
            copy.insert("event_id".into(), json!(id));
        }
        world.queue("events_api", copy);
        ids.push(id);
    }
    events(&ids)
}

#[expect(clippy::unnecessary_wraps, reason = "ends branches of a fallible match")]
fn events(ids: &[String]) -> Done {
    Ok(json!({"event_ids": ids}))
}

#[expect(clippy::unnecessary_wraps, reason = "ends branches of a fallible match")]
fn changed(changed: bool) -> Done {
    Ok(json!({"changed": changed}))
}
