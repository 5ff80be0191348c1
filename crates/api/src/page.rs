//! The two frames of answers: a page of a list, and the result of a change.

use loom_domain::OperationId;
use serde::{Deserialize, Serialize};

/// Items of a list page when no limit is given.
pub const LIMIT_DEFAULT: u32 = 50;
/// Most items of a list page.
pub const LIMIT_MAX: u32 = 500;

/// One page of a list, newest first unless the route says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page starts; absent on the last one.
    #[serde(default = "none")]
    pub next_cursor: Option<String>,
}

fn none() -> Option<String> {
    None
}

/// What a change did. A no-op has `created` false and `changed` empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mutation<T> {
    /// The object after the change (or as it would be, for a dry run).
    pub object: T,
    /// Whether the object is new.
    #[serde(default)]
    pub created: bool,
    /// Names of the fields that changed, camelCase.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Sentences the owner should read; `widens access: …` among them.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The durable Operation, when the change is one.
    #[serde(default)]
    pub operation_id: Option<OperationId>,
    /// Whether nothing was written.
    #[serde(default)]
    pub dry_run: bool,
}

impl<T> Mutation<T> {
    /// A new object.
    pub fn created(object: T) -> Self {
        Mutation {
            object,
            created: true,
            changed: Vec::new(),
            warnings: Vec::new(),
            operation_id: None,
            dry_run: false,
        }
    }

    /// A changed object with the names of its changed fields.
    pub fn changed(object: T, changed: Vec<String>) -> Self {
        Mutation { object, created: false, changed, warnings: Vec::new(), operation_id: None, dry_run: false }
    }
}
