//! The hub's door for people and agents: HTTP on a unix socket and on loopback.
//!
//! What it is not: it decides no policy and keeps no state but counters; it hands each call to the hub.
//!
//! Invariants
//! - No byte of a body is read before the guards of the platform specification (C.4) let the request pass.
//! - A handler takes a principal extractor first; one without does not compile.
//! - Every error leaves as problem+json with the one error object.

mod app;
mod config;
pub mod desk;
mod events;
mod extract;
mod guard;
mod headers;
mod listener;
mod metrics;
mod peer;
mod principal;
mod problem;
mod request_id;
mod routes;
mod sse;
mod status;
#[cfg(test)]
mod tests;
mod token;

pub use app::{App, Clock, Doors, HoldsSecret, Readiness};
pub use config::{
    ADDRESS, Cidr, ConnectionLimits, Cors, ListenConfig, RequestLimits, SocketAuth, StreamLimits, TlsFiles,
};
pub use desk::doors;
pub use events::{EventSource, History, QUEUE_MAX, StreamEvent};
pub use listener::{Server, socket_path};
pub use metrics::{Metrics, MetricsSource};
pub use peer::{IsRuntimeChild, Peer};
pub use principal::{AgentOrOwner, AnyReader, Connector, Owner, OwnerOrViewer};
pub use problem::Problem;
pub use status::{Figures, HomeStore, Live, StatusSource, Watched, watching};
pub use token::{
    Minted, SECRET_BYTES, Scope, Scopes, StoredToken, TokenKind, TokenStore, mint, secret_sha256,
};
