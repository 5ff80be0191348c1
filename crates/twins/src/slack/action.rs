//! Everything that can be done to a running twin, as one type for code and for HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::ChannelSpec;
use super::delivery::Command;
use super::error::TwinError;
use super::knobs::Fault;
use super::people::{self, Post};
use super::socket::disconnect_frame;
use super::world::World;

/// Time between a `warning` and the close.
const WARNING: Duration = Duration::from_secs(10);

/// One act; over HTTP it is `POST /twin/<name>` with the fields as a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are Slack's own words")]
pub enum Action {
    /// Somebody writes a message.
    Post(Post),
    /// An author changes the text.
    Edit { channel: String, ts: String, text: String },
    /// An author deletes a message.
    Delete { channel: String, ts: String },
    /// A link preview appears below a message.
    Unfurl { channel: String, ts: String },
    /// Somebody reacts.
    React { channel: String, ts: String, user: String, name: String },
    /// Somebody takes a reaction back.
    Unreact { channel: String, ts: String, user: String, name: String },
    /// Somebody (or the bot) joins.
    Join { channel: String, user: String },
    /// Somebody (or the bot) leaves.
    Leave { channel: String, user: String },
    /// A person appears in the team.
    AddUser { id: String, name: String },
    /// A conversation appears.
    AddChannel(ChannelSpec),
    /// A conversation is archived.
    Archive { channel: String },
    /// The app is removed from the team: tokens stop working, `app_uninstalled` is sent.
    Uninstall {},
    /// Bot tokens are revoked; `tokens_revoked` is sent.
    RevokeTokens {},
    /// Tokens answer with this error code from now on; all bot tokens unless one is named.
    RefuseToken { token: Option<String>, code: String },
    /// Every token works again.
    RestoreTokens {},
    /// A new bot token works.
    AddToken { token: String },
    /// Takes a scope from every token.
    RemoveScope { scope: String },
    /// Gives a scope to every bot token.
    AddScope { scope: String },
    /// Sends the `app_rate_limited` payload.
    AppRateLimited { minute: u64 },
    /// Wraps any event as `event_callback` and sends it.
    Event { event: Value },
    /// Sends any payload in an envelope of any type.
    Payload { kind: String, payload: Value },
    /// Sends a past event again under the same ids.
    Redeliver { event_id: String },
    /// Sends a past event again under new event ids.
    Duplicate { event_id: String, copies: u32 },
    /// Announces the end of every socket with a reason, then closes (`warning` 10 s later, scaled).
    Disconnect { reason: String },
    /// Drops the TCP connection of every socket.
    DropSockets {},
    /// Open sockets stay open but neither read nor write any more.
    StallSockets {},
    /// Plans a failure.
    Fault(Fault),
    /// Forgets all planned failures.
    ClearFaults {},
}

/// Applies an action; the answer is JSON for the HTTP side.
pub(super) fn apply(world: &mut World, action: Action) -> Result<Value, TwinError> {
    match action {
        Action::Post(post) => Ok(json!(people::post(world, post)?)),
        Action::Edit { channel, ts, text } => events(people::edit(world, &channel, &ts, &text)?),
        Action::Delete { channel, ts } => events(people::delete(world, &channel, &ts)?),
        Action::Unfurl { channel, ts } => events(people::unfurl(world, &channel, &ts)?),
        Action::React { channel, ts, user, name } => {
            Ok(json!({"changed": people::add_reaction(world, &user, &channel, &ts, &name)}))
        }
        Action::Unreact { channel, ts, user, name } => {
            Ok(json!({"changed": people::remove_reaction(world, &user, &channel, &ts, &name)}))
        }
        Action::Join { channel, user } => done(people::membership(world, &channel, &user, true)?),
        Action::Leave { channel, user } => done(people::membership(world, &channel, &user, false)?),
        Action::AddUser { id, name } => done(world.add_user(&id, &name, false)),
        Action::AddChannel(spec) => done(world.add_channel(spec)),
        Action::Archive { channel } => {
            let found = world.channels.get_mut(&channel);
            done(found.ok_or_else(|| TwinError::unknown("channel", &channel))?.archived = true)
        }
        other => provider(world, other),
    }
}

/// Acts of the provider rather than of people.
fn provider(world: &mut World, action: Action) -> Result<Value, TwinError> {
    match action {
        Action::Uninstall {} => {
            world.refuse_tokens(None, "account_inactive");
            events(world.emit(&json!({"type": "app_uninstalled"})))
        }
        Action::RevokeTokens {} => {
            world.refuse_tokens(None, "token_revoked");
            let tokens = json!({"oauth": [], "bot": [world.cfg.bot_user]});
            events(world.emit(&json!({"type": "tokens_revoked", "tokens": tokens})))
        }
        Action::RefuseToken { token, code } => done(world.refuse_tokens(token.as_deref(), &code)),
        Action::RestoreTokens {} => done(world.tokens.values_mut().for_each(|t| t.refused = None)),
        Action::AddToken { token } => done(world.add_bot_token(token)),
        Action::RemoveScope { scope } => done(world.tokens.values_mut().for_each(|t| {
            t.scopes.remove(&scope);
        })),
        Action::AddScope { scope } => done(world.give_scope(&scope)),
        Action::AppRateLimited { minute } => {
            let payload = json!({"token": "legacy-verification-token", "type": "app_rate_limited",
                "team_id": world.cfg.team, "minute_rate_limited": minute, "api_app_id": world.cfg.app});
            done(world.queue("events_api", payload))
        }
        Action::Event { event } => events(world.emit(&event)),
        Action::Payload { kind, payload } => done(world.queue(&kind, payload)),
        Action::Redeliver { event_id } => match world.delivery.redeliver(&event_id) {
            true => done(()),
            false => Err(TwinError::unknown("event", &event_id)),
        },
        Action::Duplicate { event_id, copies } => duplicate(world, &event_id, copies),
        Action::Fault(fault) => done(world.faults.push(fault)),
        Action::ClearFaults {} => done(world.faults.clear()),
        other => sockets(world, &other),
    }
}

fn sockets(world: &mut World, action: &Action) -> Result<Value, TwinError> {
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
    done(())
}

fn duplicate(world: &mut World, event_id: &str, copies: u32) -> Result<Value, TwinError> {
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
    events(ids)
}

fn events(ids: Vec<String>) -> Result<Value, TwinError> {
    Ok(json!({"event_ids": ids}))
}

#[expect(clippy::unnecessary_wraps, reason = "ends every branch of a fallible match")]
fn done((): ()) -> Result<Value, TwinError> {
    Ok(json!({}))
}
