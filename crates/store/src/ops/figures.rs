//! What a watcher of the hub is told in numbers: queues of Agents, Parts by state, and the ages behind them.

use loom_domain::{Result, Timestamp};

use super::stats::{Counts, Stats};
use crate::{Store, params};

/// Agents whose queues are told one by one.
const AGENTS_MAX: u32 = 1_000;

/// The queue of one Agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentQueue {
    /// Name of the Agent.
    pub agent: String,
    /// Open items.
    pub open: u64,
    /// Of these, queued.
    pub queued: u64,
    /// Creation of the oldest queued one.
    pub oldest: Option<Timestamp>,
}

/// Numbers of the whole store at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Counts of items, Agents and Notices.
    pub stats: Stats,
    /// Open Parts by state.
    pub parts: Counts,
    /// Last change of the oldest Part of unknown fate.
    pub oldest_unknown: Option<Timestamp>,
    /// Queues of Agents that are not archived.
    pub queues: Vec<AgentQueue>,
}

impl Store {
    /// Numbers for a watcher.
    pub async fn figures(&self) -> Result<Figures> {
        let stats = self.stats().await?;
        self.read(move |tx| {
            let parts =
                tx.query("SELECT state, COUNT(*) FROM parts WHERE open = 1 GROUP BY state ORDER BY state", &[])?;
            let unknown =
                tx.number("SELECT MIN(updated_at) FROM outbox WHERE open = 1 AND state = 'unknown'", &[])?;
            let queues = tx.query(
                "SELECT a.name_key, COUNT(i.id), CAST(COALESCE(SUM(CASE WHEN i.state = 'queued' THEN 1 ELSE 0 END), 0) AS BIGINT), \
                 MIN(CASE WHEN i.state = 'queued' THEN i.created_at END) \
                 FROM agents a LEFT JOIN inbox i ON i.agent_id = a.id AND i.open = 1 \
                 WHERE a.archived = 0 GROUP BY a.id, a.name_key, a.seq ORDER BY a.seq LIMIT ?1",
                &params![AGENTS_MAX],
            )?;
            Ok(Figures {
                stats,
                parts: parts.iter().map(|row| (row.text(0).to_owned(), row.uint(1))).collect(),
                oldest_unknown: (unknown > 0).then_some(Timestamp(unknown)),
                queues: queues
                    .iter()
                    .map(|row| AgentQueue {
                        agent: row.text(0).to_owned(),
                        open: row.uint(1),
                        queued: row.uint(2),
                        oldest: (row.int(3) > 0).then_some(Timestamp(row.int(3))),
                    })
                    .collect(),
            })
        })
        .await
    }
}
