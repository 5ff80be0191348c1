//! Loom server.
