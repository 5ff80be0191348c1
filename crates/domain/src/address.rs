//! Addresses: one external identity on one Connection, bound to one Agent.

use serde::{Deserialize, Serialize};

use crate::{
    AddressId, AgentId, AttachmentPolicy, ConnectionId, DmPolicy, RefusalBody, ReplyPolicy, Timestamp,
    TriggerPolicy,
};

/// One external identity bound to one Agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// Id.
    pub id: AddressId,
    /// Version, +1 with each change.
    pub version: u64,
    /// Order of commit.
    pub seq: u64,
    /// Agent it belongs to.
    pub agent_id: AgentId,
    /// Connection it lives on.
    pub connection_id: ConnectionId,
    /// Canonical identity, such as `slack://T1/U1`.
    pub external_identity: String,
    /// Cosmetic name; never matched.
    pub display_name: String,
    /// When a message addresses the Agent.
    pub trigger_policy: TriggerPolicy,
    /// How items are answered.
    pub reply_policy: ReplyPolicy,
    /// Who may write in a DM.
    pub dm_policy: DmPolicy,
    /// Label of the information boundary.
    pub trust_domain: String,
    /// Actors that alone may write; empty means no restriction.
    #[serde(default)]
    pub allow_actors: Vec<String>,
    /// Conversations that alone are heard; empty means no restriction.
    #[serde(default)]
    pub allow_conversations: Vec<String>,
    /// Actors that are refused.
    #[serde(default)]
    pub block_actors: Vec<String>,
    /// Conversations that are refused.
    #[serde(default)]
    pub block_conversations: Vec<String>,
    /// Bots that may write.
    #[serde(default)]
    pub allow_bots: Vec<String>,
    /// Which inbound files are let through.
    pub attachment_policy: AttachmentPolicy,
    /// Whether Refusals keep the text.
    pub refusal_body: RefusalBody,
    /// Off: refused with `address_disabled`.
    pub enabled: bool,
    /// Successor after consolidation.
    pub superseded_by: Option<AddressId>,
    /// Archive time.
    pub archived_at: Option<Timestamp>,
    /// Deletion time.
    pub deleted_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
}

impl Address {
    /// The last path part of the identity: the provider's own id of the bot user.
    pub fn native_identity(&self) -> &str {
        self.external_identity.rsplit('/').next().unwrap_or("")
    }
}
