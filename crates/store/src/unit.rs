//! A unit of work: one operation inside a group commit, with its order numbers, audit rows and wake-ups.

use loom_domain::{Principal, Result, Timestamp};
use serde_json::Value as Json;

use crate::{
    act::Act,
    audit, params,
    tx::Tx,
    wake::{Topic, WakeSet},
};

/// Order numbers reserved by one group. Gaps are fine; order of commit is kept across nodes, because the
/// reservation locks the row until the commit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SeqBlock {
    next: u64,
    end: u64,
}

const SEQ_BLOCK: i64 = 1 << 16;

impl SeqBlock {
    /// Reserves a block. Runs first in every group, outside any savepoint.
    pub(crate) fn reserve(tx: &mut dyn Tx) -> Result<Self> {
        let sql = "UPDATE sequence SET value = value + ?1 WHERE id = 1 RETURNING value";
        let end = tx.first(sql, &params![SEQ_BLOCK])?.map_or(SEQ_BLOCK, |row| row.int(0));
        let next = u64::try_from(end - SEQ_BLOCK).unwrap_or(0);
        Ok(SeqBlock { next: next + 1, end: u64::try_from(end).unwrap_or(u64::MAX) })
    }
}

/// One audit row to be.
#[derive(Debug, Clone)]
pub(crate) struct Audit<'a> {
    /// What was done, such as `address.update`.
    pub(crate) action: &'a str,
    /// Object it was done to.
    pub(crate) object: &'a str,
    /// Versions before and after.
    pub(crate) versions: (Option<u64>, Option<u64>),
    /// `ok` or a code.
    pub(crate) outcome: &'a str,
    /// Redacted facts.
    pub(crate) detail: Json,
}

/// A unit of work over one transaction.
pub(crate) struct Unit<'a> {
    /// The transaction.
    pub(crate) tx: &'a mut dyn Tx,
    /// Who acts.
    pub(crate) principal: Principal,
    /// When.
    pub(crate) now: Timestamp,
    pub(crate) act: &'a Act,
    pub(crate) node: &'a str,
    pub(crate) seqs: &'a mut SeqBlock,
    pub(crate) head: &'a mut Option<audit::Head>,
    pub(crate) wake: &'a mut WakeSet,
}

impl Unit<'_> {
    /// The next order number.
    pub(crate) fn seq(&mut self) -> Result<u64> {
        if self.seqs.next > self.seqs.end {
            *self.seqs = SeqBlock::reserve(self.tx)?;
        }
        let seq = self.seqs.next;
        self.seqs.next += 1;
        Ok(seq)
    }

    /// 128 random bits.
    pub(crate) fn random(&self) -> u128 {
        (self.act.entropy)()
    }

    /// Wakes the waiters of a topic after the commit.
    pub(crate) fn wake(&mut self, topic: Topic) {
        self.wake.add(topic);
    }

    /// Records a change for the event feed and wakes its readers.
    pub(crate) fn change(
        &mut self,
        kind: &str,
        object: &str,
        agent: Option<&str>,
        version: u64,
        changed: &[&str],
    ) -> Result<()> {
        let seq = self.seq()?;
        self.tx.execute(
            "INSERT INTO changes (seq, at, kind, object_id, agent_id, version, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &params![seq, self.now, kind, object, agent.unwrap_or(""), version, changed.join(",")],
        )?;
        self.wake.add(Topic::Feed);
        Ok(())
    }

    /// Appends a row to this node's audit chain.
    pub(crate) fn audit(&mut self, row: &Audit<'_>) -> Result<()> {
        audit::append(self, row)
    }
}
