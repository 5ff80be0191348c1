//! A simulated GitHub: the REST and GraphQL reads of pull requests, issues and discussions, with its limits.
//!
//! One loopback port serves `https://api.github.com` at `/` and an enterprise server at `/api/v3` and `/api/graphql`.
//! The client under test gets [`GithubTwin::base_url`] or [`GithubTwin::enterprise_url`] and a token of
//! [`Builder::token`]. A test reads the facts behind the answers ([`GithubTwin::pull`], [`GithubTwin::pulls`]), changes
//! them ([`GithubTwin::edit`], [`GithubTwin::push`]), makes requests fail ([`GithubTwin::fault`]) and reads what was
//! asked ([`GithubTwin::requests`]).
//!
//! Repositories are functions of the seed: three thousand pull requests take no memory until one of them is edited.
//! Every body also carries what a projection must drop: texts, timelines, addresses, instructions to the reader.
//!
//! The same over HTTP: `GET /twin/requests`, `GET /twin/faults`, `POST /twin/fault` with a [`Fault`] of
//! [`FaultAction`], `POST /twin/clear`.
//!
//! # Sources
//!
//! What is simulated follows the public reference, <https://docs.github.com/en/rest> (version 2022-11-28) and
//! <https://docs.github.com/en/graphql>: the pages «Rate limits for the REST API», «Using pagination in the REST API»,
//! «Best practices for using the REST API» (conditional requests), «Troubleshooting the REST API», and those of pulls,
//! reviews, review comments, check runs, commit statuses, issues and issue comments. Each rule names its page where it
//! stands in the code.

mod actor;
mod auth;
mod builder;
mod commit;
mod conversation;
mod details;
mod fault;
mod graphql;
mod page;
mod pull;
mod quota;
mod reply;
mod repo;
mod rest;
mod route;
mod serve;
mod show;
#[cfg(test)]
mod tests;
mod twin;
mod world;

pub use crate::front::{Fault, Request};
pub use actor::{Actor, ActorKind, Association};
pub use builder::{Builder, Repo};
pub use commit::{CheckRun, CommitStatus};
pub use conversation::{Comment, Discussion, Issue};
pub use details::{Details, FileChange, Review, Thread, ThreadComment};
pub use fault::FaultAction;
pub use pull::{Pull, PullState};
pub use twin::GithubTwin;
