//! Loom twins.
pub mod model;
pub mod slack;
