//! Loom markup.
