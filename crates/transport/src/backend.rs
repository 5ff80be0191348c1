//! What carries a prepared request: the real network, a mock, a recording. Retries, limits, egress rules and
//! caps lie above this line and run unchanged over every backend.

pub mod mock;
pub(crate) mod real;
pub mod recorded;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::{HeaderMap, Method};
use url::Url;

use crate::body::Body;
use crate::credential::CredentialBinding;
use crate::fault::NetworkFault;
use crate::proxy::Proxy;

pub use mock::MockBackend;
pub use recorded::{RecordedBackend, Subject};

/// Largest head of an answer, whichever backend carried it.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Most header fields of an answer.
pub(crate) const HEADERS_MAX: usize = 128;

/// Where to connect: checked addresses, and the proxy in between.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Host for SNI and the Host header.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Checked addresses; empty only if the proxy resolves the name.
    pub addresses: Vec<IpAddr>,
    /// Proxy, if any.
    pub proxy: Option<Arc<Proxy>>,
}

/// One attempt, ready to be written.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Method.
    pub method: Method,
    /// URL with query and, where bound so, the credential.
    pub url: Url,
    /// Headers as the host sees them.
    pub headers: HeaderMap,
    /// Every tracing header, also those that the host does not see; for mocks.
    pub trace_headers: HeaderMap,
    /// Body.
    pub body: Body,
    /// Where to connect.
    pub destination: Destination,
    /// Limit for connecting.
    pub connect_timeout: Duration,
    /// Limit of silence.
    pub read_timeout: Duration,
    /// Whether a second write of the request would be seen; such requests avoid connections that rested long.
    pub write: bool,
    /// The credential in it, so that recordings can take it out again.
    pub credential: Option<CredentialBinding>,
}

/// The head of an answer and its body as it arrives.
pub struct RawResponse {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body as received, still coded.
    pub body: BoxStream<'static, Result<Bytes, NetworkFault>>,
    /// Address that was connected to.
    pub address: Option<SocketAddr>,
}

impl fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Carries one attempt.
#[async_trait]
pub trait HttpBackend: Send + Sync + fmt::Debug {
    /// Sends the request and returns when the head of the answer is there.
    async fn execute(&self, request: Prepared) -> Result<RawResponse, NetworkFault>;

    /// Whether names are resolved for it. Backends that open no socket say no.
    fn resolves(&self) -> bool {
        true
    }
}
