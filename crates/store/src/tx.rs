//! The small interface that every store operation is written over: portable SQL with `?1` placeholders.

use loom_domain::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::dialect::Dialect;

/// A value of one of the two portable column types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// SQL null.
    Null,
    /// 64-bit integer.
    Int(i64),
    /// Text.
    Text(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}
impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(i64::from(number))
    }
}
impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Value::Int(i64::from(yes))
    }
}
impl From<loom_domain::Timestamp> for Value {
    fn from(time: loom_domain::Timestamp) -> Self {
        Value::Int(time.0)
    }
}

/// One row of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    /// Text of a column; empty for null.
    pub(crate) fn text(&self, column: usize) -> &str {
        match self.0.get(column) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
    /// Integer of a column; 0 for null.
    pub(crate) fn int(&self, column: usize) -> i64 {
        match self.0.get(column) {
            Some(Value::Int(number)) => *number,
            _ => 0,
        }
    }
    /// Unsigned integer of a column.
    pub(crate) fn uint(&self, column: usize) -> u64 {
        u64::try_from(self.int(column)).unwrap_or(0)
    }
    /// Reads a JSON document column.
    pub(crate) fn doc<T: DeserializeOwned>(&self, column: usize) -> Result<T> {
        from_doc(self.text(column))
    }
}

/// One transaction on either database.
pub(crate) trait Tx {
    /// Which database.
    fn dialect(&self) -> Dialect;
    /// Runs a statement and gives the number of rows it changed.
    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64>;
    /// Runs a query.
    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>>;
}

impl dyn Tx + '_ {
    /// Runs a query and gives its first row.
    pub(crate) fn first(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(sql, params)?.into_iter().next())
    }
    /// Runs a query for one number; 0 without rows.
    pub(crate) fn number(&mut self, sql: &str, params: &[Value]) -> Result<i64> {
        Ok(self.first(sql, params)?.map_or(0, |row| row.int(0)))
    }
}

/// Writes a document column.
pub(crate) fn to_doc<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// Reads a document column; unreadable ones are `store_corrupt`.
pub(crate) fn from_doc<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| {
        Error::new(loom_domain::Code::StoreCorrupt, format!("a stored record cannot be read: {cause}"))
    })
}

/// Builds a parameter list from values of mixed types.
macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::Value::from($value)),*] };
}
pub(crate) use params;
