//! The short way in: one call over the transport of the process.

pub mod blocking;
mod process;

use std::fmt;
use std::time::Duration;

use http::Method;
use loom_domain::{Error, Result};
use serde::Serialize;

use crate::credential::CredentialBinding;
use crate::headers::Headers;
use crate::request::RequestBuilder;
use crate::response::Response;
use crate::trace::TraceContext;
use crate::transport::Transport;

pub use process::{default_transport, set_default_transport};

/// The error of every call; [`loom_domain::Error::code()`] is stable.
pub type LoomError = Error;
/// The same under the name of the second program.
pub type LoopXError = LoomError;

/// Redirects that the short calls follow for GET and HEAD.
pub const REDIRECTS_DEFAULT: u32 = 5;

/// What a call may say beside its URL and body. What is left out has the transport's default.
#[derive(Clone, Default)]
pub struct Options {
    /// Limit of one attempt, 0.1 to 600 seconds; lowers the other two limits to it.
    pub timeout: Option<Duration>,
    /// Limit of DNS, TCP and TLS together, 0.1 to 600 seconds.
    pub connect_timeout: Option<Duration>,
    /// Limit of the silence between two bytes, 0.1 to 600 seconds.
    pub read_timeout: Option<Duration>,
    /// Headers; those that carry secrets are refused with `secret_in_input`.
    pub headers: Headers,
    /// Query parameters, added to those of the URL.
    pub query: Vec<(String, String)>,
    /// A credential and the hosts that may see it.
    pub credential: Option<CredentialBinding>,
    /// Key of a write that the provider makes once only, so that it may be repeated.
    pub idempotency_key: Option<String>,
    /// Cap of the decoded answer, 1 KiB to 1 GiB.
    pub max_body_bytes: Option<u64>,
    /// Ids of the Turn and Agent behind the call.
    pub context: Option<TraceContext>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Query values may be personal, and keys are the caller's own.
        f.debug_struct("Options")
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("headers", &self.headers)
            .field("query", &self.query.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("credential", &self.credential)
            .field("max_body_bytes", &self.max_body_bytes)
            .finish_non_exhaustive()
    }
}

/// Gets a URL over the transport of the process. Every answer but 2xx is an error; up to 5 redirects are followed.
pub async fn http_get(url: &str, options: Options) -> Result<Response, LoomError> {
    Box::pin(default_transport()?.http_get(url, options)).await
}

/// Posts a value as JSON over the transport of the process. Every answer but 2xx is an error, a redirect too.
pub async fn http_post<T: Serialize + ?Sized>(
    url: &str,
    json: &T,
    options: Options,
) -> Result<Response, LoomError> {
    let request = default_transport()?.post(url).json(json).options(options);
    Box::pin(request.send()).await
}

impl Transport {
    /// [`http_get`] over this transport.
    pub async fn http_get(&self, url: &str, options: Options) -> Result<Response, LoomError> {
        let request = self.request(Method::GET, url).redirects(REDIRECTS_DEFAULT).options(options);
        Box::pin(request.send()).await
    }

    /// [`http_post`] over this transport.
    pub async fn http_post<T: Serialize + ?Sized>(
        &self,
        url: &str,
        json: &T,
        options: Options,
    ) -> Result<Response, LoomError> {
        let request = self.post(url).json(json).options(options);
        Box::pin(request.send()).await
    }
}

impl RequestBuilder {
    /// Takes over everything that the options say.
    pub fn options(self, options: Options) -> Self {
        let Options { timeout, connect_timeout, read_timeout, headers, query, credential, .. } = options;
        let mut request = headers.iter().fold(self, |request, (name, value)| request.header(name, value));
        request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        request = with(request, timeout, Self::timeout);
        request = with(request, connect_timeout, Self::connect_timeout);
        request = with(request, read_timeout, Self::read_timeout);
        request = with(request, credential, Self::credential);
        request = with(request, options.idempotency_key, |request, key| request.idempotency_key(&key));
        request = with(request, options.max_body_bytes, Self::max_body_bytes);
        with(request, options.context, Self::context)
    }
}

fn with<T>(
    request: RequestBuilder,
    value: Option<T>,
    set: impl FnOnce(RequestBuilder, T) -> RequestBuilder,
) -> RequestBuilder {
    match value {
        Some(value) => set(request, value),
        None => request,
    }
}
