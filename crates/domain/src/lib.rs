//! The rules of Loom as pure functions: objects, decisions, state machines, codes.
//!
//! What it is not: it knows no clock, socket, file, database, async runtime or environment variable.
//!
//! Invariants
//! - Every decision is a function of its arguments and ends in one code of a closed list.
//! - Time, randomness and ids come in as arguments.
//! - Messaging objects serialise in camelCase; the error object in snake_case.

mod code;
mod error;
pub mod id;
pub mod time;

pub use code::{Code, Exit};
pub use error::{Error, Result};
pub use id::*;
pub use time::Timestamp;
