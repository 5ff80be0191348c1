//! The typed client.
