//! What the operations take.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which installation of the platform.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Brand {
    /// Feishu.
    #[default]
    Feishu,
    /// Lark.
    Lark,
}

/// Input of `probe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
}

/// Input of `chats`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatsInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
}

/// Input of `members`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MembersInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
    /// Group, oc_…
    #[schemars(length(max = 67))]
    pub(super) chat: String,
}

/// Input of `messages`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessagesInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
    /// Group, oc_…
    #[schemars(length(max = 67))]
    pub(super) chat: Option<String>,
    /// Thread, omt_…
    #[schemars(length(max = 68))]
    pub(super) thread: Option<String>,
    /// Oldest message, RFC 3339
    #[schemars(length(max = 40))]
    pub(super) from: Option<String>,
    /// Newest message, RFC 3339
    #[schemars(length(max = 40))]
    pub(super) to: Option<String>,
    /// Most messages
    #[serde(default = "messages")]
    #[schemars(range(min = 1, max = 5_000))]
    #[expect(dead_code, reason = "the run adopts it as its own limit")]
    pub(super) limit: u64,
}

fn messages() -> u64 {
    200
}

/// Input of `message`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
    /// Message, om_…
    #[schemars(length(max = 67))]
    pub(super) id: String,
}

/// Input of `document`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentInput {
    /// Which platform the app belongs to
    #[serde(default)]
    pub(super) brand: Brand,
    /// Token of the document
    #[schemars(length(max = 64))]
    pub(super) token: String,
}
