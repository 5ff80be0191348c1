//! The one outbound door of Loom: requests, downloads and websockets to other hosts.
//!
//! What it is not: it knows no provider, keeps no state beyond pools and limiters, and listens on nothing.
//!
//! Invariants
//! - The address that was checked is the address that is connected to.
//! - A write whose bytes may have left is never repeated unless the caller declared that safe.
//! - A credential goes to the exact hosts it is bound to, and stands in no log, error or recording.
//! - Every attempt has a limit in time and size, and one line in the request log.

pub mod backend;
mod body;
mod cache;
mod call;
mod clock;
mod credential;
mod decode;
mod dial;
mod dns;
mod egress;
mod facade;
mod fault;
mod headers;
mod limiter;
pub mod log;
mod multipart;
mod paging;
mod proxy;
mod request;
mod response;
mod retry;
mod scope;
mod settings;
mod stream;
mod trace;
mod transport;
mod websocket;

pub use backend::{Destination, HttpBackend, MockBackend, Prepared, RawResponse, RecordedBackend, Subject};
pub use body::{Body, FileBody};
pub use cache::{CacheKey, CacheMode, ProjectionDir, ProjectionStore, StoredProjection};
pub use clock::{Clock, Entropy, SystemClock, SystemEntropy};
pub use credential::{CredentialBinding, Place};
pub use dial::Socket;
pub use dns::{Resolve, SystemResolver};
pub use egress::{Cidr, Hosts, Origin, authority};
pub use facade::{
    LoomError, LoopXError, Options, REDIRECTS_DEFAULT, blocking, default_transport, http_get, http_post,
    set_default_transport,
};
pub use fault::{FaultKind, NetworkFault, Phase, Written, bytes_written};
pub use headers::Headers;
pub use http::{HeaderMap, Method};
pub use loom_secrets::Secret as SecretText;
pub use multipart::Multipart;
pub use paging::{JqPath, PageEnd, PageEvent, PageStream, Paging, StopReason};
pub use proxy::{Proxy, ProxyScheme, ProxySetting};
pub use request::RequestBuilder;
pub use response::{Meta, RateState, Response};
pub use scope::{Rate, Rates, SCOPE_GITHUB, SCOPE_LARK, SCOPE_SEC};
pub use settings::Settings;
pub use stream::{ByteStream, SseEvent};
pub use trace::TraceContext;
pub use transport::{Transport, TransportBuilder};
pub use websocket::{WEBSOCKET_FRAME_BYTES_MAX, WebSocket, WebSocketOptions};
