//! The event feed: what changed since a place in the order of commits.

use loom_domain::{AgentId, Error, Result, Timestamp};

use super::lookup::Filter;
use crate::{Store, params};

/// Changes in one answer.
pub const CHANGES_MAX: u32 = 1_000;

/// One change; it names the object to read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Order.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Type, such as `inbox.changed`.
    pub kind: String,
    /// Object.
    pub object_id: String,
    /// Agent it belongs to.
    pub agent_id: Option<String>,
    /// Version of the object; 0 when it has none.
    pub version: u64,
    /// Fields that changed.
    pub changed: Vec<String>,
}

impl Store {
    /// Changes after a place, oldest first. No kinds means all.
    pub async fn changes_since(
        &self,
        seq: u64,
        kinds: Vec<String>,
        agent: Option<AgentId>,
        limit: u32,
    ) -> Result<Vec<Change>> {
        if limit == 0 || limit > CHANGES_MAX {
            return Err(Error::invalid("limit", format!("expected 1 to {CHANGES_MAX}")));
        }
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.and("seq > ?", seq);
            filter.eq("agent_id", agent.as_ref().map(AgentId::as_str));
            filter.any_of("kind", &kinds);
            let (condition, mut values) = filter.parts();
            values.push(limit.into());
            let sql = format!(
                "SELECT seq, at, kind, object_id, agent_id, version, changed FROM changes WHERE {condition} ORDER BY seq LIMIT ?{}",
                values.len()
            );
            let rows = tx.query(&sql, &values)?;
            Ok(rows.iter().map(change_of).collect())
        })
        .await
    }

    /// The oldest and newest change that is kept; 0 when there is none.
    pub async fn feed_range(&self) -> Result<(u64, u64)> {
        self.read(|tx| {
            let row = tx.first("SELECT MIN(seq), MAX(seq) FROM changes", &params![])?;
            Ok(row.map_or((0, 0), |row| (row.uint(0), row.uint(1))))
        })
        .await
    }
}

fn change_of(row: &crate::Row) -> Change {
    let agent = row.text(4);
    Change {
        seq: row.uint(0),
        at: Timestamp(row.int(1)),
        kind: row.text(2).to_owned(),
        object_id: row.text(3).to_owned(),
        agent_id: (!agent.is_empty()).then(|| agent.to_owned()),
        version: row.uint(5),
        changed: row.text(6).split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
    }
}
