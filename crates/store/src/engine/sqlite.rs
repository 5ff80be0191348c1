//! SQLite: WAL, `synchronous=FULL`, one process.

mod checkpoint;

use std::path::Path;

use loom_domain::{Code, Error, Result};
use rusqlite::{Connection, OpenFlags, config::DbConfig, types::ValueRef};

use self::checkpoint::Checkpointer;
use crate::{
    dialect::Dialect,
    engine::{Engine, Purpose, read_only},
    tx::{Row, Tx, Value},
};

const STATEMENT_CACHE: usize = 256;
const BUSY_TIMEOUT_MS: u32 = 5_000;

/// A connection to the database file.
pub(crate) struct Sqlite {
    _checkpointer: Option<Checkpointer>,
    connection: Connection,
    is_synced: bool,
}

impl Sqlite {
    /// Opens the writing connection and sets the journal up.
    pub(crate) fn open_writer(path: &Path, wal_limit_bytes: u64) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(|e| translate(&e))?;
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA temp_store=MEMORY; \
                 PRAGMA cache_size=-8000; PRAGMA busy_timeout={BUSY_TIMEOUT_MS}; PRAGMA journal_size_limit={wal_limit_bytes};"
            ))
            .map_err(|e| translate(&e))?;
        let checkpointer = Checkpointer::attach(&mut connection, path)?;
        Self::with(connection, Some(checkpointer))
    }

    /// Opens a connection that can only read.
    pub(crate) fn open_reader(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| translate(&e))?;
        connection
            .execute_batch(&format!(
                "PRAGMA query_only=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-2000; PRAGMA busy_timeout={BUSY_TIMEOUT_MS};"
            ))
            .map_err(|e| translate(&e))?;
        Self::with(connection, None)
    }

    /// Statements keep their plans: without this guarantee SQLite prepares many of them anew for each new value.
    fn with(connection: Connection, checkpointer: Option<Checkpointer>) -> Result<Self> {
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|e| translate(&e))?;
        Ok(Sqlite { _checkpointer: checkpointer, connection, is_synced: true })
    }

    /// Whether a commit waits for the disk.
    fn set_synced(&mut self, is_synced: bool) -> Result<()> {
        if self.is_synced != is_synced {
            self.control(if is_synced { "PRAGMA synchronous=FULL" } else { "PRAGMA synchronous=NORMAL" })?;
            self.is_synced = is_synced;
        }
        Ok(())
    }
}

impl Tx for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| translate(&e))?;
        let changed = statement.execute(rusqlite::params_from_iter(params)).map_err(|e| translate(&e))?;
        #[cfg(test)]
        counted::add(&statement);
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| translate(&e))?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(|e| translate(&e))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(|e| translate(&e))? {
            let values = (0..columns).map(|i| row.get_ref(i).map(value_of)).collect::<Result<_, _>>();
            out.push(Row(values.map_err(|e| translate(&e))?));
        }
        drop(rows);
        #[cfg(test)]
        counted::add(&statement);
        Ok(out)
    }
}

impl Engine for Sqlite {
    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        if purpose == Purpose::Read {
            return self.control("BEGIN");
        }
        self.set_synced(purpose == Purpose::Write)?;
        self.control("BEGIN IMMEDIATE")
    }
    fn commit(&mut self) -> Result<()> {
        crate::fail::point("store.commit.before")?;
        self.control("COMMIT")?;
        crate::fail::point("store.commit.after")
    }
    fn rollback(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.control("ROLLBACK");
        }
    }
    fn control(&mut self, sql: &str) -> Result<()> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut s| s.execute([]))
            .map(|_| ())
            .map_err(|e| translate(&e))
    }
    fn is_fatal(&self, error: &Error) -> bool {
        matches!(error.code, Code::HubReadOnly | Code::StoreCorrupt)
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

fn translate(error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Kind;
    match error.sqlite_error_code() {
        Some(Kind::ConstraintViolation) => Error::new(Code::AlreadyExists, "a record with this key exists"),
        Some(Kind::DiskFull) => read_only("the disk is full"),
        Some(Kind::SystemIoFailure) => read_only("the disk answers with errors"),
        Some(Kind::ReadOnly | Kind::PermissionDenied | Kind::CannotOpen) => {
            read_only("the database file cannot be opened for writing")
        }
        Some(Kind::DatabaseBusy | Kind::DatabaseLocked) => read_only("another process holds the database"),
        Some(Kind::DatabaseCorrupt | Kind::NotADatabase) => {
            Error::new(Code::StoreCorrupt, "the database file is damaged")
        }
        _ => Error::internal(error),
    }
}

#[cfg(test)]
pub(crate) use counted::steps;

/// Counts what SQLite does, for tests of cost.
#[cfg(test)]
mod counted {
    use std::cell::Cell;

    use rusqlite::{Statement, StatementStatus};

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn add(statement: &Statement<'_>) {
        let steps = u64::try_from(statement.reset_status(StatementStatus::VmStep)).unwrap_or(0);
        STEPS.set(STEPS.get() + steps);
    }

    /// Steps of all statements of this thread so far.
    pub(crate) fn steps() -> u64 {
        STEPS.get()
    }
}
