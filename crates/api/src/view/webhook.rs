//! Webhooks. Their members are in `snake_case`.

use loom_domain::webhook::Delivery;
use serde::{Deserialize, Serialize};

/// A stored delivery, with what the owner should know of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryEntry {
    /// The delivery.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// Remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The answer to an inbound delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAnswer {
    /// `accepted` or `duplicate`.
    pub state: String,
}
