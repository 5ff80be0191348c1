//! A model server for tests: three dialects over SSE, commanded by the text of the last message.
//!
//! What it is not: it has no model. It answers `echo: …`, or does what a command word says:
//! `SLOW:seconds`, `TOOL:command line`, `MCPTOOL:name:json`, `FAIL:status`, `DROP`, `COUNT`, `PHASES`.
//! In an enveloped message the words stand on lines that begin with `| `.

mod anthropic;
mod chat;
mod order;
mod reply;
mod responses;
mod server;
mod sse;
mod talk;
#[cfg(test)]
mod tests;

pub use server::{Dialect, Logged, ModelTwin};
