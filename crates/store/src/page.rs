//! Keyset pages, newest first: constant cost however long the history.

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use crate::{
    docs::Doc,
    tx::{Tx, Value},
};

/// Largest page.
pub(crate) const LIMIT_MAX: u32 = 500;
/// Page size when none is given.
pub(crate) const LIMIT_DEFAULT: u32 = 50;

/// Where a page starts and how long it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageQuery {
    /// Entries, 1 to 500; 50 when absent.
    pub(crate) limit: Option<u32>,
    /// Cursor of the page before.
    pub(crate) cursor: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    /// Entries.
    pub(crate) items: Vec<T>,
    /// Cursor of the next page; absent at the end.
    pub(crate) next_cursor: Option<String>,
}

impl PageQuery {
    /// The limit, checked.
    pub(crate) fn limit(&self) -> Result<u32> {
        match self.limit.unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit),
            _ => Err(Error::invalid("limit", format!("expected 1 to {LIMIT_MAX}"))),
        }
    }

    /// The order number below which the page starts.
    pub(crate) fn below(&self) -> Result<i64> {
        match &self.cursor {
            None => Ok(i64::MAX),
            Some(cursor) => cursor
                .strip_prefix('s')
                .and_then(|digits| i64::from_str_radix(digits, 36).ok())
                .ok_or_else(|| Error::new(Code::CursorExpired, "the cursor is not one of this list")),
        }
    }
}

pub(crate) fn cursor(seq: u64) -> String {
    let mut digits = Vec::new();
    let mut rest = seq;
    while rest > 0 || digits.is_empty() {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
    }
    format!("s{}", digits.iter().rev().collect::<String>())
}

/// Reads a page, newest first. `condition` uses `?1…?n` for `values`.
pub(crate) fn page<D: Doc>(
    tx: &mut dyn Tx,
    condition: &str,
    mut values: Vec<Value>,
    query: &PageQuery,
    seq_of: impl Fn(&D) -> u64,
) -> Result<Page<D>> {
    let limit = query.limit()?;
    let (below, size) = (values.len() + 1, values.len() + 2);
    values.push(Value::Int(query.below()?));
    values.push(Value::from(limit + 1));
    let sql = format!(
        "SELECT doc FROM {} WHERE ({condition}) AND seq < ?{below} ORDER BY seq DESC LIMIT ?{size}",
        D::TABLE
    );
    let mut items = tx.query(&sql, &values)?.iter().map(|row| row.doc(0)).collect::<Result<Vec<D>>>()?;
    let more = items.len() > usize::try_from(limit).unwrap_or(usize::MAX);
    if more {
        items.pop();
    }
    let next_cursor = if more { items.last().map(|last| cursor(seq_of(last))) } else { None };
    Ok(Page { items, next_cursor })
}
