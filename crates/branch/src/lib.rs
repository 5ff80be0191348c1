//! The integration branch: configuration as files of a git repository.
//!
//! What it is not: it decides no merge (that is `loom-domain`) and changes no hub.
//!
//! Invariants
//! - Equal configuration gives equal bytes; no secret, absolute path or time stands in a file.
//! - git runs as an argument vector with a time limit, without hooks, filters or submodules.
//! - No working tree but a private one is ever touched, and what only looks leaves no object behind.

mod binding;
mod files;
mod git;
mod repo;
mod schema;
mod yaml;

#[cfg(test)]
mod tests;

pub use binding::Binding;
pub use files::{FILE_BYTES_MAX, Files, read_files, write_files};
pub use git::{GIT_LIMIT, Git};
pub use repo::{Lock, Repo};
pub use schema::{FileForm, file_forms};
