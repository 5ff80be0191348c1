//! Webhooks. Their members are in `snake_case`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An endpoint as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutEndpoint {
    /// Name.
    pub name: String,
    /// Where deliveries go.
    pub url: String,
    /// Reference of the signing secret.
    pub secret_ref: String,
    /// Types that may be sent; none is every type.
    #[serde(default)]
    pub event_types: Vec<String>,
    /// Form of what is sent; absent is `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<String>,
    /// How inbound deliveries are verified; absent is `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

/// A delivery to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliver {
    /// Endpoint.
    pub endpoint: String,
    /// Type.
    pub r#type: String,
    /// Data.
    pub data: Value,
    /// The `webhook-id`; made up when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}
