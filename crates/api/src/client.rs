//! The client of the API: one connection a request, over the hub's unix socket or loopback http.
//!
//! Every request has a time-out and every answer a size limit. A refusal comes back as the hub's own error object.

mod answer;
mod call;
mod connect;
mod endpoint;
mod sse;

pub use call::Call;
pub use endpoint::Endpoint;
pub use sse::{EventStream, Frame};

use http::Method;

/// Speaks to one hub as one principal.
#[derive(Clone)]
pub struct Client {
    endpoint: Endpoint,
    token: Option<String>,
}

impl Client {
    /// Makes a client; without a token the hub knows the caller by the socket's peer.
    pub fn new(endpoint: Endpoint, token: Option<String>) -> Self {
        Client { endpoint, token }
    }

    /// Starts a GET.
    pub fn get(&self, path: impl Into<String>) -> Call<'_> {
        Call::new(self, Method::GET, path.into())
    }

    /// Starts a POST with an empty JSON object as body.
    pub fn post(&self, path: impl Into<String>) -> Call<'_> {
        Call::new(self, Method::POST, path.into())
    }

    /// Starts a PUT.
    pub fn put(&self, path: impl Into<String>) -> Call<'_> {
        Call::new(self, Method::PUT, path.into())
    }

    /// Starts a PATCH.
    pub fn patch(&self, path: impl Into<String>) -> Call<'_> {
        Call::new(self, Method::PATCH, path.into())
    }

    /// Starts a DELETE.
    pub fn delete(&self, path: impl Into<String>) -> Call<'_> {
        Call::new(self, Method::DELETE, path.into())
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
