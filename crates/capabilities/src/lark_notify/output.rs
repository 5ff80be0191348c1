//! What may leave.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Recipient, Sent};

/// Where a message would go.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProbeFields {
    #[schemars(length(max = 64))]
    pub(super) membership_id: String,
    #[schemars(length(max = 32))]
    pub(super) provider: String,
    #[schemars(length(max = 64))]
    pub(super) connection_id: String,
    #[schemars(length(max = 32))]
    pub(super) connection_state: String,
    #[schemars(length(max = 32))]
    pub(super) outbound_policy: String,
    pub(super) enabled: bool,
    /// Whether a message would be taken now.
    pub(super) admitted: bool,
}

/// The item of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SentFields {
    #[schemars(length(max = 64))]
    pub(super) outbox_id: String,
    #[schemars(length(max = 32))]
    pub(super) state: String,
    /// Whether an earlier order with the same key made it.
    pub(super) duplicate: bool,
    #[schemars(length(max = 40))]
    pub(super) parts: Vec<PartFields>,
}

/// One message or file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PartFields {
    /// `text` or `file`.
    #[schemars(length(max = 16))]
    pub(super) kind: String,
    #[schemars(length(max = 32))]
    pub(super) state: String,
    #[schemars(length(max = 128))]
    pub(super) provider_message_id: Option<String>,
    /// The platform's time, else the time of the receipt.
    #[schemars(length(max = 40))]
    pub(super) sent_at: Option<String>,
}

/// The fields of an item.
pub(super) fn of(sent: &Sent) -> Value {
    let part = |part: &loom_domain::Part| {
        let receipt = part.receipt.as_ref();
        PartFields {
            kind: part.kind.to_string(),
            state: part.state.to_string(),
            provider_message_id: receipt.and_then(|receipt| receipt.external_message_id.clone()),
            sent_at: receipt.map(|receipt| receipt.provider_time.unwrap_or(receipt.recorded_at).to_string()),
        }
    };
    let fields = SentFields {
        outbox_id: sent.item.id.to_string(),
        state: sent.item.state.to_string(),
        duplicate: sent.duplicate,
        parts: sent.parts.iter().map(part).collect(),
    };
    json!(fields)
}

/// The fields of a recipient that would be written to.
pub(super) fn probed(membership: &str, recipient: &Recipient) -> Value {
    let fields = ProbeFields {
        membership_id: membership.to_owned(),
        provider: recipient.provider.clone(),
        connection_id: recipient.connection_id.clone(),
        connection_state: recipient.connection_state.clone(),
        outbound_policy: recipient.outbound_policy.clone(),
        enabled: recipient.enabled,
        admitted: true,
    };
    json!(fields)
}
