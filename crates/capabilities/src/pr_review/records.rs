//! A sink that keeps records.

use serde_json::Value;

use crate::{Cursor, Flow, Notice, Sink, StopReason};

/// Keeps the records of a scan, up to a limit.
pub(super) struct Records {
    pub(super) list: Vec<Value>,
    limit: usize,
}

impl Records {
    /// Keeps all of them.
    pub(super) fn all() -> Self {
        Records { list: Vec::new(), limit: usize::MAX }
    }

    /// Keeps so many and wants no more.
    pub(super) fn up_to(limit: u32) -> Self {
        Records { list: Vec::new(), limit: usize::try_from(limit).unwrap_or(usize::MAX) }
    }
}

impl Sink for Records {
    fn item(&mut self, item: Value) -> Flow {
        if self.list.len() >= self.limit {
            return Flow::Stop(StopReason::Limit);
        }
        self.list.push(item);
        Flow::Continue
    }
    fn fields(&mut self, _: Value) {}
    fn progress(&mut self, _: u64, _: Option<u64>) {}
    fn notice(&mut self, _: Notice) {}
    fn checkpoint(&mut self, _: &Cursor) {}
}
