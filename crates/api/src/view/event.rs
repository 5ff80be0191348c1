//! Events of the hub's stream (messaging specification 9.4).

use serde::{Deserialize, Serialize};

/// One change; it names the one object to read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HubEvent {
    /// Order; also the `id:` of the stream.
    pub seq: u64,
    /// Type, such as `inbox.changed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Object.
    #[serde(default)]
    pub id: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<u64>,
    /// Fields that changed.
    #[serde(default)]
    pub changed: Vec<String>,
    /// The object, where it is small. For `thread.output` it holds `{turnId, text}`.
    #[serde(default)]
    pub object: Option<serde_json::Value>,
}
