//! Rows of a Turn: in its journal, or in memory alone for programs that keep nothing.

use loom_domain::{Result, Timestamp};

use super::room::Journal;
use super::row::{JournalRow, TurnEvent};

/// Rows of a Turn.
#[derive(Debug)]
pub(super) enum Rows {
    /// In its journal.
    Kept(Box<Journal>),
    /// In memory.
    Memory(Vec<JournalRow>),
}

impl Rows {
    pub(super) fn all(&self) -> &[JournalRow] {
        match self {
            Rows::Kept(journal) => journal.rows(),
            Rows::Memory(rows) => rows,
        }
    }

    pub(super) async fn append(&mut self, at: Timestamp, event: TurnEvent) -> Result<&JournalRow> {
        match self {
            Rows::Kept(journal) => journal.append_async(at, event).await,
            Rows::Memory(rows) => {
                let seq = rows.len() as u64;
                let (prev, digest) = (String::new(), String::new());
                rows.push(JournalRow { seq, at, fence: 1, body: event, prev, digest });
                rows.last().ok_or_else(|| loom_domain::Error::internal("a row was just added"))
            }
        }
    }
}
