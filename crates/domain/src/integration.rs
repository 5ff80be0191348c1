//! Configuration as a tree of objects: what an integration branch holds, merges and applies. Pure.

mod merge;
mod plan;
mod tree;

#[cfg(test)]
mod tests;

pub use merge::{Conflict, Resolutions, Side, agreed, merge};
pub use plan::{Action, Change, FieldChange, Plan};
pub use tree::{Fields, Key, Kind, Object, Tree};
