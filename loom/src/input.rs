//! What a command takes in: bodies, files and documents.

pub(crate) mod body;
pub(crate) mod cassette;
pub(crate) mod document;
pub(crate) mod file;
pub(crate) mod scan;
pub(crate) mod secrets;
