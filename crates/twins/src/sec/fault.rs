//! What a planned failure of the SEC twin does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a planned failure does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultAction {
    /// 403 with the page of who was too fast.
    Blocked {
        /// Seconds for `Retry-After`; none leaves the header out, as the SEC does.
        #[serde(default)]
        retry_after_secs: Option<u64>,
    },
    /// 429 with or without the header.
    TooMany {
        /// Seconds for `Retry-After`.
        #[serde(default)]
        retry_after_secs: Option<u64>,
    },
    /// 404.
    NotFound,
    /// A failure of the server.
    Server {
        /// HTTP status.
        status: u16,
    },
    /// The answer as it is, with one column of the filings shorter than the others.
    ShortColumn {
        /// Name of the column.
        column: String,
    },
    /// The answer as it is, without one field.
    Remove {
        /// JSON pointer of the object.
        pointer: String,
        /// Name of the field.
        field: String,
    },
    /// The answer as it is, with one value replaced.
    Put {
        /// JSON pointer.
        pointer: String,
        /// Its new value.
        value: Value,
    },
    /// Waits, then answers.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// Closes the connection without an answer.
    Drop,
    /// The head and this many bytes arrive, then the connection breaks.
    Cut {
        /// Bytes of the body that still arrive.
        bytes: usize,
    },
    /// Never answers; the connection stays open.
    Hang,
}

impl FaultAction {
    /// Bends a body.
    pub(super) fn bend(&self, body: &mut Value) {
        match self {
            Self::ShortColumn { column } => {
                for table in ["/filings/recent", ""] {
                    let column = body.pointer_mut(table).and_then(|table| table.get_mut(column));
                    if let Some(column) = column.and_then(Value::as_array_mut) {
                        column.pop();
                    }
                }
            }
            Self::Remove { pointer, field } => {
                if let Some(object) = body.pointer_mut(pointer).and_then(Value::as_object_mut) {
                    object.remove(field);
                }
            }
            Self::Put { pointer, value } => {
                if let Some(place) = body.pointer_mut(pointer) {
                    place.clone_from(value);
                }
            }
            _ => {}
        }
    }
}
