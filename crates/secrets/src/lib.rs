//! Loom secrets.
