//! Records are JSON documents with the columns that indexes need; one set of functions serves every table.

use loom_domain::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    params,
    tx::{Row, Tx, Value, from_doc, to_doc},
};

/// A stored object: a document and its index columns.
pub(crate) trait Doc: Serialize + DeserializeOwned {
    /// Table.
    const TABLE: &'static str;
    /// Kind, for messages.
    const KIND: &'static str;
    /// Primary key.
    fn id(&self) -> &str;
    /// Index columns besides `id` and `doc`.
    fn columns(&self) -> Vec<(&'static str, Value)>;
}

/// Inserts a new record. An existing key is `already_exists`.
pub(crate) fn insert<D: Doc>(tx: &mut dyn Tx, record: &D) -> Result<()> {
    let columns = record.columns();
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let marks: Vec<_> = (3..columns.len() + 3).map(|i| format!("?{i}")).collect();
    let comma = if names.is_empty() { "" } else { ", " };
    let sql = format!(
        "INSERT INTO {} (id, doc{comma}{}) VALUES (?1, ?2{comma}{})",
        D::TABLE,
        names.join(", "),
        marks.join(", ")
    );
    tx.execute(&sql, &values(record, columns)?)?;
    Ok(())
}

/// Writes an existing record back.
pub(crate) fn update<D: Doc>(tx: &mut dyn Tx, record: &D) -> Result<()> {
    let columns = record.columns();
    let sets: Vec<_> =
        columns.iter().enumerate().map(|(i, (name, _))| format!("{name} = ?{}", i + 3)).collect();
    let comma = if sets.is_empty() { "" } else { ", " };
    let sql = format!("UPDATE {} SET doc = ?2{comma}{} WHERE id = ?1", D::TABLE, sets.join(", "));
    if tx.execute(&sql, &values(record, columns)?)? == 0 {
        return Err(Error::not_found(D::KIND, record.id()));
    }
    Ok(())
}

fn values<D: Doc>(record: &D, columns: Vec<(&'static str, Value)>) -> Result<Vec<Value>> {
    let mut values = vec![Value::from(record.id()), Value::from(to_doc(record)?)];
    values.extend(columns.into_iter().map(|(_, value)| value));
    Ok(values)
}

/// Reads a record by id.
pub(crate) fn get<D: Doc>(tx: &mut dyn Tx, id: &str) -> Result<Option<D>> {
    find(tx, "id = ?1", &params![id])
}

/// Reads a record by id; a missing one is `not_found`.
pub(crate) fn require<D: Doc>(tx: &mut dyn Tx, id: &str) -> Result<D> {
    get(tx, id)?.ok_or_else(|| Error::not_found(D::KIND, id))
}

/// Reads a record by id and locks it until the end of the transaction.
pub(crate) fn get_locked<D: Doc>(tx: &mut dyn Tx, id: &str) -> Result<Option<D>> {
    let sql = format!("SELECT doc FROM {} WHERE id = ?1{}", D::TABLE, tx.dialect().for_update());
    tx.first(&sql, &params![id])?.map(|row| row.doc(0)).transpose()
}

/// Reads a record by id and locks it until the end of the transaction; a missing one is `not_found`.
pub(crate) fn require_locked<D: Doc>(tx: &mut dyn Tx, id: &str) -> Result<D> {
    get_locked(tx, id)?.ok_or_else(|| Error::not_found(D::KIND, id))
}

/// Reads the first record that matches a condition.
pub(crate) fn find<D: Doc>(tx: &mut dyn Tx, condition: &str, values: &[Value]) -> Result<Option<D>> {
    let sql = format!("SELECT doc FROM {} WHERE {condition} LIMIT 1", D::TABLE);
    tx.first(&sql, values)?.map(|row| row.doc(0)).transpose()
}

/// Reads all records that match a condition (with its order and limit).
pub(crate) fn select<D: Doc>(tx: &mut dyn Tx, condition: &str, values: &[Value]) -> Result<Vec<D>> {
    let sql = format!("SELECT doc FROM {} WHERE {condition}", D::TABLE);
    tx.query(&sql, values)?.iter().map(|row: &Row| from_doc(row.text(0))).collect()
}
