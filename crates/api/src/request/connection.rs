//! Requests about Connections and Addresses.

use loom_domain::connection::GatewayMode;
use loom_domain::{AttachmentPolicy, Capability, DmPolicy, RefusalBody, ReplyPolicy, TriggerPolicy};
use serde::{Deserialize, Serialize};

/// A new Connection record. Nothing is looked up, stored elsewhere or started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connect {
    /// Provider word; `lark` means `feishu` with brand `lark`.
    pub provider: String,
    /// App, bot or organisation.
    pub account_ref: String,
    /// Team, tenant or user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<String>,
    /// Reference to the credential.
    pub credential_ref: String,
    /// `feishu` or `lark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Base URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Proxy URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<String>,
    /// Declared capabilities; absent means the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
    /// Who runs the gateway; absent means `external`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_mode: Option<GatewayMode>,
    /// Whether plain http beyond loopback is allowed.
    #[serde(default)]
    pub allow_http: bool,
}

/// A change of a Connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UpdateConnection {
    /// App, bot or organisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_ref: Option<String>,
    /// Team, tenant or user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<String>,
    /// Reference to the credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_ref: Option<String>,
    /// `feishu` or `lark`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Proxy URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<String>,
    /// Declared capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
    /// Who runs the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_mode: Option<GatewayMode>,
    /// Whether plain http beyond loopback is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_http: Option<bool>,
    /// Fields to empty: `scopeRef brand apiUrl proxyUrl capabilities`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<String>,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// The settings of an Address that its owner chooses; absent ones keep their value or default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AddressPolicy {
    /// Cosmetic name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// When a message addresses the Agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_policy: Option<TriggerPolicy>,
    /// How items are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_policy: Option<ReplyPolicy>,
    /// Who may write in a DM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dm_policy: Option<DmPolicy>,
    /// Trust domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_domain: Option<String>,
    /// Actors that alone may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_actors: Option<Vec<String>>,
    /// Conversations that alone are heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_conversations: Option<Vec<String>>,
    /// Actors that are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_actors: Option<Vec<String>>,
    /// Conversations that are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_conversations: Option<Vec<String>>,
    /// Bots that may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_bots: Option<Vec<String>>,
    /// Which inbound files are let through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment_policy: Option<AttachmentPolicy>,
    /// Whether Refusals keep the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal_body: Option<RefusalBody>,
    /// On or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// A new Address. Its policy fields stand beside the two ids: one flat object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bind {
    /// Connection.
    pub connection_id: String,
    /// Identity at the provider; a bare provider id is canonicalised.
    pub external_identity: String,
    /// Settings.
    #[serde(flatten)]
    pub policy: AddressPolicy,
}

/// A change of an Address. Its policy fields stand beside the others: one flat object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UpdateAddress {
    /// Fields to empty: `allowActors allowConversations blockActors blockConversations allowBots`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<String>,
    /// Whether a change of trust domain is meant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirm_trust: bool,
    /// Version the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Settings.
    #[serde(flatten)]
    pub policy: AddressPolicy,
}

/// A new connector token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IssueToken {
    /// Life time in seconds; absent means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_bind_refuses_unknown_keys() {
        let good =
            r#"{"connectionId":"con_1","externalIdentity":"U1","triggerPolicy":"all","allowActors":["U2"]}"#;
        let bind: Bind = serde_json::from_str(good).unwrap();
        assert_eq!(bind.policy.trigger_policy, Some(TriggerPolicy::All));
        assert_eq!(serde_json::to_string(&bind).unwrap(), good);
        let bad = r#"{"connectionId":"con_1","externalIdentity":"U1","trigger":"all"}"#;
        assert!(serde_json::from_str::<Bind>(bad).unwrap_err().to_string().contains("trigger"));
        assert!(serde_json::from_str::<UpdateAddress>(r#"{"enbaled":true}"#).is_err());
        let update: UpdateAddress = serde_json::from_str(r#"{"enabled":true,"expectedVersion":3}"#).unwrap();
        assert_eq!((update.policy.enabled, update.expected_version), (Some(true), Some(3)));
    }
}
