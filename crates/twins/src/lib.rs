//! Twins stand for the services on the other side, simulated on loopback: a Slack team, a model server, GitHub,
//! the SEC's EDGAR and Lark.
//!
//! What they are not: a way for the hub to reach anything. Tests, benchmarks, `loom demo` and `loom twin` start them.
//!
//! Invariants
//! - A twin listens on loopback only and calls nothing outside it.
//! - Its ids are the same in every run; only timestamps follow the wall clock.

mod front;

pub mod github;
pub mod lark;
pub mod model;
pub mod sec;
pub mod slack;
