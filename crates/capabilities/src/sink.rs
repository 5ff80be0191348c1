//! Where a run puts its results; nothing of an answer leaves a run any other way.

use serde::Serialize;
use serde_json::Value;

use crate::{Cursor, StopReason};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a run that is told to stop ends with the given reason"]
pub enum Flow {
    /// More is wanted.
    Continue,
    /// Nothing more is wanted; end with this reason.
    Stop(StopReason),
}

/// A remark for whoever watches the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Stable word.
    pub code: String,
    /// One sentence.
    pub message: String,
}

impl Notice {
    /// Makes one.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Notice { code: code.to_owned(), message: message.into() }
    }
}

/// Takes results. Each is projected to the operation's schema and redacted before anybody sees it.
pub trait Sink: Send {
    /// Takes one item. One that does not fit its schema is left out with the warning `item_invalid`.
    fn item(&mut self, item: Value) -> Flow;
    /// Takes the record of the operation. One that does not fit its schema fails the run when it ends.
    fn fields(&mut self, fields: Value);
    /// Tells how far it is.
    fn progress(&mut self, done: u64, total: Option<u64>);
    /// Makes a remark.
    fn notice(&mut self, notice: Notice);
    /// Notes where a run that is cut off here would go on; it covers the items given so far.
    fn checkpoint(&mut self, cursor: &Cursor);
}
