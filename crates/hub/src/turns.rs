//! Turns: takes items fairly, runs them on the Agent's runtime, and records how they end.

mod answer;
mod context;
pub(crate) mod dispatch;
mod envelope;
mod files;
pub(crate) mod marks;
mod recover;
mod run;
pub(crate) mod runtimes;

pub(crate) use files::sniff;
