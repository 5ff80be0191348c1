//! Loom twins.
