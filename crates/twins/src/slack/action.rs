//! Everything that can be done to a running twin, as one type for code and for HTTP.

mod apply;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::ChannelSpec;
use super::knobs::Fault;
use super::people::Post;

pub(super) use apply::apply;

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
