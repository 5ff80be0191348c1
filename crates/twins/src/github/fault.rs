//! What a planned failure of the GitHub twin does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reply::{self, Reply};
use super::route::RepoPath;

/// What a planned failure does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultAction {
    /// 401, as of a token nobody gave out.
    Unauthorized,
    /// 403 with `X-GitHub-SSO`: the organisation wants single sign-on.
    Sso,
    /// 403 of a token that lacks a permission.
    Forbidden,
    /// 404.
    NotFound,
    /// 410.
    Gone,
    /// 422 with `errors`.
    Validation,
    /// 451 with `block`.
    Legal,
    /// A failure of the server, such as 500, 502 or 503.
    Server {
        /// HTTP status.
        status: u16,
    },
    /// The primary limit: `x-ratelimit-remaining: 0`.
    PrimaryLimit {
        /// 403 or 429.
        status: u16,
        /// Seconds until `x-ratelimit-reset`.
        reset_secs: u64,
    },
    /// The secondary limit: quota is left, the message tells.
    SecondaryLimit {
        /// 403 or 429.
        status: u16,
        /// Seconds for `Retry-After`; none leaves the header out.
        retry_after_secs: Option<u64>,
    },
    /// 301 to another place.
    Moved {
        /// Value of `Location`.
        location: String,
    },
    /// The answer as it is, with one field replaced; for what a provider should never send.
    Put {
        /// JSON pointer.
        pointer: String,
        /// Its new value.
        value: Value,
    },
    /// The answer as it is, without one field.
    Remove {
        /// JSON pointer of the object.
        pointer: String,
        /// Name of the field.
        field: String,
    },
    /// 200 with a page for people.
    Html,
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
    /// The refusal that stands in the place of the answer.
    pub(super) fn refusal(&self, about: Option<&RepoPath>, who: &str) -> Option<Reply> {
        Some(match self {
            Self::Unauthorized => reply::bad_credentials(),
            Self::Sso => reply::sso_required(reply::owner_of(about)),
            Self::Forbidden => reply::forbidden(),
            Self::NotFound => reply::not_found(),
            Self::Gone => reply::gone(),
            Self::Validation => reply::validation_failed("PullRequest", "state"),
            Self::Legal => reply::legal(reply::owner_of(about)),
            Self::Server { status } => Reply::refuse(*status, "Server Error", "rest"),
            Self::PrimaryLimit { status, .. } => reply::primary_limit(*status, who),
            Self::SecondaryLimit { status, retry_after_secs } => {
                reply::secondary_limit(*status, *retry_after_secs)
            }
            Self::Moved { location } => reply::moved(location),
            _ => return None,
        })
    }

    /// Bends a body.
    pub(super) fn bend(&self, body: &mut Value) {
        match self {
            Self::Put { pointer, value } => {
                if let Some(place) = body.pointer_mut(pointer) {
                    place.clone_from(value);
                }
            }
            Self::Remove { pointer, field } => {
                if let Some(object) = body.pointer_mut(pointer).and_then(Value::as_object_mut) {
                    object.remove(field);
                }
            }
            _ => {}
        }
    }
}
