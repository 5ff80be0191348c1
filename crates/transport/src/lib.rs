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
mod call;
mod clock;
mod credential;
mod decode;
mod dial;
mod dns;
mod egress;
mod fault;
mod limiter;
pub mod log;
mod multipart;
mod proxy;
mod request;
mod response;
mod retry;
mod settings;
mod stream;
mod trace;
mod transport;
mod websocket;

pub use backend::{Destination, HttpBackend, MockBackend, Prepared, RawResponse, RecordedBackend};
pub use body::{Body, FileBody};
pub use clock::{Clock, Entropy, SystemClock, SystemEntropy};
pub use credential::{CredentialBinding, Place};
pub use dial::Socket;
pub use dns::{Resolve, SystemResolver};
pub use egress::{Cidr, Hosts, Origin};
pub use fault::{FaultKind, NetworkFault, Phase, Written, bytes_written};
pub use http::{HeaderMap, Method};
pub use limiter::Rate;
pub use loom_secrets::Secret as SecretText;
pub use multipart::Multipart;
pub use proxy::{Proxy, ProxyScheme, ProxySetting};
pub use request::RequestBuilder;
pub use response::{Meta, RateState, Response};
pub use settings::Settings;
pub use stream::ByteStream;
pub use trace::TraceContext;
pub use transport::{Transport, TransportBuilder};
pub use websocket::{WEBSOCKET_FRAME_BYTES_MAX, WebSocket, WebSocketOptions};
