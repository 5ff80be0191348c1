//! Loom api.
