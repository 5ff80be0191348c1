//! The only place where the two databases differ in SQL.

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

impl Dialect {
    /// Clause that locks the rows a query reads until the end of the transaction.
    /// SQLite has one writer, so there is nothing to lock.
    pub(crate) const fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    /// Turns portable SQL (`?1` placeholders) into the database's own.
    pub(crate) fn translate(self, sql: &str) -> String {
        match self {
            Dialect::Sqlite => sql.to_owned(),
            Dialect::Postgres => sql.replace('?', "$"),
        }
    }

    /// Wall clock of the database in Unix milliseconds, or `None` when the caller's clock counts.
    pub(crate) const fn clock(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"),
        }
    }
}
