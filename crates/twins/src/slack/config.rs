//! What a Slack twin is started with: its world, its tokens and its speed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bot scopes of the default app, as in Loom's manifest.
pub const DEFAULT_SCOPES: &[&str] = &[
    "app_mentions:read",
    "channels:read",
    "channels:history",
    "groups:read",
    "groups:history",
    "im:read",
    "im:history",
    "im:write",
    "mpim:read",
    "mpim:history",
    "chat:write",
    "files:read",
    "files:write",
    "reactions:read",
    "reactions:write",
    "users:read",
];

/// Start-up configuration of one twin: one team with one app.
#[derive(Debug, Clone)]
pub struct Config {
    /// Port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// Seed of every generated id.
    pub seed: u64,
    /// Team id.
    pub team: String,
    /// App id.
    pub app: String,
    /// The app's bot user.
    pub bot_user: String,
    /// The app's bot id.
    pub bot_id: String,
    /// Tokens accepted as the bot's.
    pub bot_tokens: Vec<String>,
    /// Tokens accepted for `apps.connections.open`.
    pub app_tokens: Vec<String>,
    /// Signing secret of HTTP deliveries.
    pub signing_secret: String,
    /// Scopes every bot token starts with.
    pub scopes: Vec<String>,
    /// People (id, display name) known at the start.
    pub users: Vec<(String, String)>,
    /// Conversations known at the start.
    pub channels: Vec<ChannelSpec>,
    /// Factor on the acknowledgement window and the redelivery schedule; 1.0 is Slack's own pace.
    pub time_scale: f64,
    /// Acknowledgement window, if it shall not follow `time_scale`.
    pub ack_window: Option<Duration>,
    /// Pause between the server's WebSocket pings (not scaled).
    pub ping_every: Duration,
    /// Whether methods and channels are rate limited from the start.
    pub rate_limits: bool,
}

/// The kind of a conversation, in the words of `channel_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// Public channel.
    Channel,
    /// Private channel.
    Group,
    /// Direct message.
    Im,
    /// Direct message of several people.
    Mpim,
}

impl ChannelKind {
    /// The word Slack uses in `channel_type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Group => "group",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }

    /// The word `conversations.list` uses in `types`.
    pub(super) fn list_type(self) -> &'static str {
        match self {
            Self::Channel => "public_channel",
            Self::Group => "private_channel",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }

    /// The scope family (`channels`, `groups`, `im`, `mpim`) that guards it.
    pub(super) fn scope_family(self) -> &'static str {
        match self {
            Self::Channel => "channels",
            Self::Group => "groups",
            Self::Im => "im",
            Self::Mpim => "mpim",
        }
    }
}

/// One conversation of the starting world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSpec {
    /// Conversation id.
    pub id: String,
    /// Name without `#`; empty for direct messages.
    #[serde(default)]
    pub name: String,
    /// Kind.
    pub kind: ChannelKind,
    /// Member user ids; include the bot user if it has joined.
    #[serde(default)]
    pub members: Vec<String>,
    /// Whether it is shared with another organisation (Slack Connect).
    #[serde(default)]
    pub ext_shared: bool,
}

impl ChannelSpec {
    /// Describes a conversation.
    pub fn new(id: &str, name: &str, kind: ChannelKind, members: &[&str]) -> Self {
        let members = members.iter().map(|m| (*m).into()).collect();
        Self { id: id.into(), name: name.into(), kind, members, ext_shared: false }
    }
}

impl Default for Config {
    /// Team `T0001`, app `A0001`, bot `U0BOT`/`B0BOT`, Ann and Bob, four channels and two direct messages.
    fn default() -> Self {
        Self {
            port: 0,
            seed: 1,
            team: "T0001".into(),
            app: "A0001".into(),
            bot_user: "U0BOT".into(),
            bot_id: "B0BOT".into(),
            bot_tokens: vec!["xoxb-1-twin".into()],
            app_tokens: vec!["xapp-1-A0001-1-twin".into()],
            signing_secret: "8f742231b10e8888abcd99yyyzzz85a5".into(),
            scopes: DEFAULT_SCOPES.iter().map(|s| (*s).into()).collect(),
            users: vec![("U0ANN".into(), "Ann".into()), ("U0BOB".into(), "Bob".into())],
            channels: vec![
                ChannelSpec::new("C0GENERAL", "general", ChannelKind::Channel, &["U0ANN", "U0BOB", "U0BOT"]),
                ChannelSpec::new("C0DOCS", "docs", ChannelKind::Channel, &["U0ANN", "U0BOB", "U0BOT"]),
                ChannelSpec::new("C0RANDOM", "random", ChannelKind::Channel, &["U0ANN", "U0BOB"]),
                ChannelSpec::new("G0PRIVATE", "private", ChannelKind::Group, &["U0ANN", "U0BOT"]),
                ChannelSpec::new(
                    "G0MPIM",
                    "mpdm-ann--bob--loom-1",
                    ChannelKind::Mpim,
                    &["U0ANN", "U0BOB", "U0BOT"],
                ),
                ChannelSpec::new("D0ANN", "", ChannelKind::Im, &["U0ANN", "U0BOT"]),
                ChannelSpec::new("D0BOB", "", ChannelKind::Im, &["U0BOB", "U0BOT"]),
            ],
            time_scale: 1.0,
            ack_window: None,
            ping_every: Duration::from_secs(5),
            rate_limits: false,
        }
    }
}
