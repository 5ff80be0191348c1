//! Loom store.
