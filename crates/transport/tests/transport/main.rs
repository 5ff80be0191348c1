//! The transport against peers on loopback and against the mock.

mod caps;
mod credentials;
mod egress;
mod proxies;
mod recording;
mod retries;
mod sending;
mod support;
mod timeouts;
mod tracing_ids;
mod websockets;
