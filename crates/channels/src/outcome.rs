//! What a call to a platform came to.

use loom_domain::{Timestamp, outbox::PartError};

/// Class of a fault (messaging specification 5.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultClass {
    /// Nothing was accepted; may be tried again.
    Retryable,
    /// The platform asked to wait.
    RateLimited,
    /// Refused for good.
    Permanent,
    /// The credential was refused.
    Auth,
    /// A scope is missing.
    MissingScope,
    /// The app is not set up for this.
    Config,
    /// A quota is used up.
    Quota,
    /// The platform may or may not have acted.
    Unknown,
}

/// A fault with its class and the platform's own code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Class.
    pub class: FaultClass,
    /// Platform's or Loom's code, such as `channel_not_found`.
    pub code: String,
    /// One redacted sentence.
    pub message: String,
    /// For `RateLimited` and `Quota`: wait this long.
    pub retry_after_ms: Option<u64>,
    /// For `RateLimited`: what is limited, such as `chat.postMessage`.
    pub scope: Option<String>,
}

impl Fault {
    /// Makes a fault without wait or scope.
    pub fn new(class: FaultClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Fault { class, code: code.into(), message: message.into(), retry_after_ms: None, scope: None }
    }

    /// The error as a Part keeps it.
    pub fn to_part_error(&self) -> PartError {
        let class = match self.class {
            FaultClass::Retryable => "retryable",
            FaultClass::RateLimited => "rate_limited",
            FaultClass::Permanent => "permanent",
            FaultClass::Auth | FaultClass::MissingScope | FaultClass::Config => "auth",
            FaultClass::Quota => "quota",
            FaultClass::Unknown => "unknown",
        };
        PartError { class: class.to_owned(), code: self.code.clone(), message: self.message.clone() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Provider ids of a delivered Part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentIds {
    /// Message id.
    pub message_id: Option<String>,
    /// File id.
    pub file_id: Option<String>,
    /// Thread id.
    pub thread_id: Option<String>,
    /// Link for people.
    pub permalink: Option<String>,
    /// Provider's time.
    pub provider_time: Option<Timestamp>,
}

/// Outcome of one attempt to deliver a Part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// Accepted, with ids.
    Sent(SentIds),
    /// Not accepted, or not known; the class says which.
    Failed(Fault),
}

/// Answer to "did it arrive?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// It is there.
    Found(SentIds),
    /// One complete read did not find it.
    NotFound,
    /// The platform cannot answer now; ask again later.
    Unanswered(Fault),
    /// The platform can never answer this (scope missing, no lookup).
    Unanswerable(Fault),
}
