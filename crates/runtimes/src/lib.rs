//! Loom runtimes.
