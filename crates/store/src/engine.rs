//! One connection to one database, as the writer and the readers drive it.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use loom_domain::{Code, Error, Result};

use crate::tx::Tx;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reads one snapshot.
    Read,
    /// Writes; the commit is on disk when it returns.
    Write,
    /// Writes what may be lost when the machine goes down: the next synced commit takes it to disk with its own.
    WriteUnsynced,
}

/// A connection that runs transactions with savepoints.
pub(crate) trait Engine: Tx {
    /// Starts a transaction; a write one takes the write lock at once.
    fn begin(&mut self, purpose: Purpose) -> Result<()>;
    /// Commits. On `Err` nothing of the transaction is promised and the connection must be reopened.
    fn commit(&mut self) -> Result<()>;
    /// Rolls the transaction back; errors are of no interest.
    fn rollback(&mut self);
    /// Runs a control statement without parameters (savepoints).
    fn control(&mut self, sql: &str) -> Result<()>;
    /// Whether the whole transaction is dead after this error (PostgreSQL serialisation, lost connection).
    fn is_fatal(&self, error: &Error) -> bool;
}

/// Opens a connection. Called again after the old one failed.
pub(crate) type Opener = Box<dyn Fn() -> Result<Box<dyn EngineSend>> + Send + Sync>;

/// An engine that can move to its thread.
pub(crate) trait EngineSend: Engine + Send {
    /// The engine as a transaction.
    fn as_tx(&mut self) -> &mut dyn Tx;
}

impl<T: Engine + Send> EngineSend for T {
    fn as_tx(&mut self) -> &mut dyn Tx {
        self
    }
}

/// The error of an operation that could not be stored.
pub(crate) fn read_only(why: &str) -> Error {
    Error::new(Code::HubReadOnly, format!("the store cannot be written: {why}"))
}
