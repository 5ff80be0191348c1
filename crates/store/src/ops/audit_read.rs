//! Reads the audit log.

use loom_api::{Page, view::AuditRow};
use loom_domain::{Error, Result, Timestamp};

use crate::{Store, page::PageQuery, params, tx::from_doc};

impl Store {
    /// A page of one node's audit rows after a place in its chain, oldest first. Without a node: this one.
    pub async fn audit_rows(
        &self,
        node: Option<String>,
        since: u64,
        limit: Option<u32>,
    ) -> Result<Page<AuditRow>> {
        let limit = PageQuery { limit, cursor: None }.limit()?;
        let node = node.unwrap_or_else(|| self.config().node.clone());
        self.read(move |tx| {
            let rows = tx.query(
                "SELECT seq, at, principal, action, object_id, row_json, hash FROM audit WHERE node = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
                &params![node, since, limit],
            )?;
            let items = rows.iter().map(row_of).collect::<Result<Vec<_>>>()?;
            let is_full = u32::try_from(items.len()).is_ok_and(|count| count == limit);
            let next_cursor = items.last().filter(|_| is_full).map(|last| last.seq.to_string());
            Ok(Page { items, next_cursor })
        })
        .await
    }
}

fn row_of(row: &crate::Row) -> Result<AuditRow> {
    let body: serde_json::Value = from_doc(row.text(5))?;
    let detail = body.get("detail").cloned().ok_or_else(|| Error::internal("an audit row without detail"))?;
    let object = row.text(4);
    Ok(AuditRow {
        seq: row.uint(0),
        at: Timestamp(row.int(1)),
        principal: row.text(2).to_owned(),
        action: row.text(3).to_owned(),
        object: (!object.is_empty()).then(|| object.to_owned()),
        detail,
        hash: row.text(6).to_owned(),
    })
}
