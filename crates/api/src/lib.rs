//! The wire of Loom's HTTP API: routes, request and answer objects, and the typed client.
//!
//! What it is not: it holds no behaviour of the hub, no policy, and prints nothing.
//!
//! Invariants
//! - Requests refuse unknown keys; answers tolerate them.
//! - Ids in requests are text, so that the hub can answer `invalid_id` and name the expected prefix.
//! - Messaging objects are camelCase; the error object is `snake_case`.

pub mod client;
mod page;
pub mod query;
pub mod request;
pub mod routes;
pub mod view;

pub use client::{Client, Endpoint};
pub use page::{LIMIT_DEFAULT, LIMIT_MAX, Mutation, Page};
