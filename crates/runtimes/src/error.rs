//! What can go wrong in a runtime.

use loom_domain::{Code, Error};
use serde::{Deserialize, Serialize};

/// Class of a runtime error; policy looks at nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrClass {
    /// The process could not be started.
    Spawn,
    /// The peer did not complete the handshake.
    Handshake,
    /// The model refused the credential.
    Auth,
    /// The model asks to slow down.
    RateLimit,
    /// The model is overloaded or failing.
    Overloaded,
    /// The model or the runtime refused the request.
    BadRequest,
    /// The model's answer broke off.
    ModelStream,
    /// The thread does not exist any more.
    ThreadLost,
    /// Another process writes to the thread.
    WriterLocked,
    /// A Turn is running already.
    Busy,
    /// The peer broke the protocol or a limit.
    Protocol,
    /// A time limit passed.
    Timeout,
    /// The process ended.
    Exited,
}

/// One failure of a runtime. `message` has passed the redactor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RuntimeError {
    /// Class.
    pub class: ErrClass,
    /// HTTP status of the model provider, when one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<u16>,
    /// Whether the same work may succeed later.
    pub retryable: bool,
    /// For the owner, never for a chat.
    pub message: String,
}

impl RuntimeError {
    /// Makes an error whose retryability follows from its class.
    pub fn new(class: ErrClass, message: impl Into<String>) -> Self {
        use ErrClass::{Auth, BadRequest, Protocol};
        let retryable = !matches!(class, Auth | BadRequest | Protocol);
        RuntimeError { class, http: None, retryable, message: message.into() }
    }

    /// Sets whether the same work may succeed later.
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds the model provider's HTTP status.
    pub fn with_http(mut self, http: Option<u16>) -> Self {
        self.http = http;
        self
    }
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Error {
        let code = match error.class {
            ErrClass::Auth => Code::ProviderAuthError,
            ErrClass::RateLimit => Code::ProviderRateLimited,
            ErrClass::Overloaded | ErrClass::BadRequest => Code::ProviderHttpError,
            ErrClass::Timeout => Code::ProviderTimeout,
            ErrClass::Busy | ErrClass::WriterLocked => Code::Locked,
            ErrClass::ThreadLost => Code::NotFound,
            ErrClass::Protocol => Code::ProviderProtocolError,
            ErrClass::Spawn => Code::ConfigError,
            ErrClass::Handshake | ErrClass::ModelStream | ErrClass::Exited => Code::ProviderNetworkError,
        };
        let mut out = Error::new(code, error.message);
        out.retryable = error.retryable;
        out.http_status = error.http;
        out
    }
}

/// Why a Turn did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Nothing was handed to the runtime.
    #[error("not sent: {0}")]
    NotSent(RuntimeError),
    /// The runtime answered no.
    #[error("refused: {0}")]
    Refused(RuntimeError),
    /// It may or may not run; ask `reconcile`.
    #[error("indeterminate: {0}")]
    Indeterminate(RuntimeError),
}

/// Why input could not be added to a Turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// The runtime cannot do it.
    #[error("the runtime cannot add input to a running Turn")]
    Unsupported,
    /// That Turn does not run.
    #[error("the Turn is not active")]
    NotActive,
    /// It failed.
    #[error("{0}")]
    Failed(RuntimeError),
}
