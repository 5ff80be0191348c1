//! Loom channels.
