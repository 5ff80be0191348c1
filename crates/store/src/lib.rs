//! The store: whole operations over SQLite or PostgreSQL, written once over [`Tx`].
//!
//! What it is not: it decides no policy (that is `loom-domain`), opens no socket but the database's, and shows
//! no SQL, row or driver type to other rooms.
//!
//! Invariants
//! - An operation that returned `Ok` is on disk (WAL with `synchronous=FULL`, or `synchronous_commit=on`).
//! - State, cause and audit row of a change are one transaction.
//! - A failed write or sync makes the connection untrusted: it is dropped, and nothing of the group is acknowledged.
//! - No transaction is held across a network call.

mod act;
mod audit;
mod config;
#[cfg(test)]
mod conformance;
mod dialect;
mod docs;
mod engine;
pub mod fail;
mod listen;
mod migrate;
pub mod ops;
mod page;
mod pg_tls;
mod readers;
mod records;
mod store;
mod tx;
mod unit;
mod wake;
mod writer;

pub use act::{Act, Entropy};
pub use audit::Verified;
pub use config::{StoreConfig, StoreUrl};
pub use store::Store;
pub use wake::Topic;
pub use writer::StoreHealth;

pub(crate) use dialect::Dialect;
pub(crate) use tx::{Row, Tx, Value, params};
pub(crate) use unit::{Audit, Unit};
