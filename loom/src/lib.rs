//! The command line of Loom: one program with two names, `loom` and `loopx`.
//!
//! What it is not: it holds no rule of the hub; it speaks the HTTP API and prints.
//!
//! Invariants
//! - Everything that is printed goes through `output`; stdout is data, stderr is talk.
//! - Every failure ends in one code of the closed list and its exit status.
//! - Text from outside is escaped before a person sees it.

mod app;
mod cli;
mod commands;
mod compose;
mod context;
mod credentials;
mod environment;
mod failure;
mod input;
mod output;

pub use app::run;

#[cfg(test)]
mod tests;
