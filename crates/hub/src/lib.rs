//! Loom hub.
