//! Questions to the decision function. Nothing is written.

use loom_domain::ConversationType;
use serde::{Deserialize, Serialize};

/// One message to judge: a stored one (`id`), or a made-up one (`address`, `conversation`, `actor` …).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the wire object")]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PolicyExplain {
    /// An `evt_`, `msg_` or `inb_` id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Provider id of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Provider id of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Kind of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_type: Option<ConversationType>,
    /// Root of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The Address is mentioned by id.
    pub mentioned: bool,
    /// Written in a DM.
    pub direct: bool,
    /// The provider confirmed a dispatch.
    pub dispatch: bool,
    /// The sender is a bot.
    pub bot: bool,
    /// There is neither text nor file.
    pub no_text: bool,
    /// Changes to judge under, in the form of an apply document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<serde_json::Value>,
}

/// Stored Events judged under a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyReplay {
    /// Not older than this: a duration back from now, or an RFC 3339 time.
    pub since: String,
    /// Agent name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Changes, in the form of an apply document.
    pub draft: serde_json::Value,
}
