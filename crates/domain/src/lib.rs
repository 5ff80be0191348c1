//! The rules of Loom as pure functions: objects, decisions, state machines, codes.
//!
//! What it is not: it knows no clock, socket, file, database, async runtime or environment variable.
//!
//! Invariants
//! - Every decision is a function of its arguments and ends in one code of a closed list.
//! - Time, randomness and ids come in as arguments.
//! - Messaging objects serialise in camelCase; the error object in `snake_case`.

pub mod address;
pub mod admission;
pub mod agent;
pub mod answer;
pub mod artifact;
pub mod bot_loop;
pub mod canonical;
mod code;
pub mod connection;
pub mod connector_plan;
pub mod decision;
pub mod dedupe;
pub mod envelope;
mod error;
pub mod facts;
pub mod fairness;
#[cfg(test)]
mod fixtures;
pub mod gate;
pub mod grant;
pub mod health;
pub mod id;
pub mod idempotency;
pub mod inbox;
pub mod integration;
pub mod listing;
pub mod membership;
pub mod message;
pub mod notice;
pub mod outbox;
pub mod pending;
mod policy;
mod principal;
pub mod quiet;
pub mod reason;
pub mod schedule;
pub mod text;
pub mod time;
pub mod trust;
pub mod turn;
pub mod validate;
pub mod webhook;
mod words;

pub use address::Address;
pub use agent::{Agent, RuntimeKind, RuntimeSettings};
pub use artifact::Artifact;
pub use code::{Code, Exit};
pub use connection::Connection;
pub use connector_plan::ConnectorPlan;
pub use error::{Error, Result};
pub use gate::Gate;
pub use grant::Grant;
pub use id::*;
pub use membership::{Candidate, Membership};
pub use message::{Event, InboundEvent, Message, TextFormat};
pub use notice::Notice;
pub use outbox::{OutboxItem, Part, Receipt, SendAttempt};
pub use policy::*;
pub use principal::Principal;
pub use time::Timestamp;
pub use turn::{HandlingAttempt, Turn};
