//! PostgreSQL through the blocking client.

use std::collections::HashMap;
use std::error::Error as StdError;

use bytes::BytesMut;
use loom_domain::{Code, Error, Result};
use postgres::{
    Client, Statement,
    error::SqlState,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

use crate::{
    dialect::Dialect,
    engine::{Engine, Purpose, read_only},
    tx::{Row, Tx, Value},
};

/// A connection to a PostgreSQL server.
pub(crate) struct Postgres {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects. The session commits synchronously and refuses to wait for a lock forever.
    pub(crate) fn connect(config: &postgres::Config) -> Result<Self> {
        let mut client = crate::pg_tls::connect(config)?;
        client
            .batch_execute(
                "SET synchronous_commit = on; SET lock_timeout = '10s'; SET statement_timeout = '60s'",
            )
            .map_err(|e| translate(&e))?;
        Ok(Postgres { client, statements: HashMap::new() })
    }

    fn statement(&mut self, sql: &str) -> Result<Statement> {
        if let Some(found) = self.statements.get(sql) {
            return Ok(found.clone());
        }
        let prepared = self.client.prepare(&Dialect::Postgres.translate(sql)).map_err(|e| translate(&e))?;
        self.statements.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }
}

impl Tx for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let statement = self.statement(sql)?;
        self.client.execute(&statement, &as_params(params)).map_err(|e| translate(&e))
    }

    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>> {
        let statement = self.statement(sql)?;
        let rows = self.client.query(&statement, &as_params(params)).map_err(|e| translate(&e))?;
        rows.iter().map(row_of).collect()
    }
}

impl Engine for Postgres {
    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        self.control(match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Purpose::Write => "BEGIN",
            Purpose::WriteUnsynced => "BEGIN; SET LOCAL synchronous_commit = off",
        })
    }
    fn commit(&mut self) -> Result<()> {
        crate::fail::point("store.commit.before")?;
        self.control("COMMIT")?;
        crate::fail::point("store.commit.after")
    }
    fn rollback(&mut self) {
        let _ = self.control("ROLLBACK");
    }
    fn control(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).map_err(|e| translate(&e))
    }
    fn is_fatal(&self, error: &Error) -> bool {
        matches!(error.code, Code::HubReadOnly | Code::StoreCorrupt) || self.client.is_closed()
    }
}

fn as_params(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Value::Int(number) => number.to_sql(ty, out),
            Value::Text(text) => text.to_sql(ty, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

fn row_of(row: &postgres::Row) -> Result<Row> {
    (0..row.len())
        .map(|i| {
            let ty = row.columns().get(i).map_or(Type::TEXT, |c| c.type_().clone());
            let value = if ty == Type::INT8 {
                row.try_get::<_, Option<i64>>(i).map(|v| v.map(Value::Int))
            } else if ty == Type::INT4 {
                row.try_get::<_, Option<i32>>(i).map(|v| v.map(|n| Value::Int(i64::from(n))))
            } else {
                row.try_get::<_, Option<String>>(i).map(|v| v.map(Value::Text))
            };
            value.map(|v| v.unwrap_or(Value::Null)).map_err(|e| translate(&e))
        })
        .collect::<Result<Vec<_>>>()
        .map(Row)
}

/// Turns a driver error into a coded one. Server text stays out of the message.
pub(crate) fn translate(error: &postgres::Error) -> Error {
    let Some(state) = error.code() else {
        return read_only("the database does not answer").with_detail("cause", error.to_string());
    };
    match *state {
        SqlState::UNIQUE_VIOLATION => Error::new(Code::AlreadyExists, "a record with this key exists"),
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE => {
            read_only("the database asked to repeat the transaction").with_detail("repeat", true)
        }
        SqlState::DISK_FULL => read_only("the database's disk is full"),
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            Error::new(Code::StoreCorrupt, "the database is damaged")
        }
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            read_only("the database is shutting down or starting")
        }
        SqlState::IN_FAILED_SQL_TRANSACTION => {
            read_only("the transaction was aborted").with_detail("repeat", true)
        }
        _ => Error::internal(format!(
            "database error {}: {}",
            state.code(),
            error.as_db_error().map_or("", |e| e.message())
        )),
    }
}
