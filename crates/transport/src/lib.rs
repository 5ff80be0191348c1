//! Loom transport.
