//! The hub: composes store, channels and runtimes into the main path and keeps it alive.
//!
//! What it is not: it formats nothing for people, speaks no HTTP, and makes no decision that `loom-domain` can make.
//!
//! Invariants
//! - Record, then act: a Turn, an Attempt and each step of a send are on disk before the call that follows them.
//! - One owner acts for a Connection and for an Agent at a time; an old fence changes nothing.
//! - Every task has a name and an owner, and its death is seen: it is counted, shown and the task started again.
//! - No network is on the start path.

mod blobs;
mod calls;
mod capability;
pub mod clock;
pub mod config;
mod courier;
mod desk;
mod feed;
mod gateway;
pub mod home;
mod hub;
mod lease;
pub mod lock;
mod metrics;
mod multi_agent;
pub mod reports;
mod schedules;
mod shares;
mod supervise;
mod sweep;
pub mod token;
mod turns;
mod webhooks;

#[cfg(test)]
mod tests;

pub use blobs::{Blobs, safe_name};
pub use calls::{Lent, order_of};
pub use capability::Asked;
pub use clock::{Clock, SystemClock};
pub use config::Config;
pub use desk::{TestEnd, Upload, Wanted};
pub use feed::{Feed, HubEvent, Output};
pub use gateway::{ProbeResult, health::ConnectionHealth};
pub use hub::{Hub, MakeChannel, Parts, Phase};
pub use metrics::Metrics;
pub use multi_agent::{Report, RunView, multi_agent_schema};
pub use webhooks::{Hook, Taken};
