//! The one error object of Loom, the same in the command line, HTTP and events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Code, listing};

/// Result with Loom's error object.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A coded error with what to do next. Serialises to the error object of the specifications
/// (`snake_case` members; absent ones are left out).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Stable code.
    pub code: Code,
    /// Loom's own sentence, lower case, without a full stop. Never holds a secret or provider text.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Milliseconds to wait before a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Status of the provider's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Provider that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Operation that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Id of the request in logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Attempts made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Code-specific facts.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Error {
    /// Makes an error with the code's own hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error {
            code,
            message: message.into(),
            hint: Some(code.hint().to_owned()),
            retryable: code.retryable(),
            retry_after_ms: None,
            http_status: None,
            provider: None,
            operation: None,
            request_id: None,
            attempts: None,
            detail: Value::Null,
        }
    }

    /// The stable text of the code.
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Replaces the hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds one member to `detail`.
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        if !self.detail.is_object() {
            self.detail = Value::Object(serde_json::Map::new());
        }
        if let Some(map) = self.detail.as_object_mut() {
            map.insert(key.to_owned(), value.into());
        }
        self
    }

    /// A `not_found` for an object of the given kind.
    pub fn not_found(kind: &str, id: &str) -> Self {
        let error = Error::new(Code::NotFound, format!("no {kind} {id}"));
        match listing::of_kind(kind) {
            Some(command) => error.with_hint(format!("see `{command}`")),
            None => error,
        }
    }

    /// An `invalid_argument` naming the field.
    pub fn invalid(field: &str, why: impl std::fmt::Display) -> Self {
        Error::new(Code::InvalidArgument, format!("{field}: {why}")).with_detail("field", field)
    }

    /// A defect; the cause goes to the log, not to the caller.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Error::new(Code::Internal, format!("internal error: {cause}"))
    }
}
