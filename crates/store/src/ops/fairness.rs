//! Marks that keep an Agent's queue fair: when each conversation and key was last served.

use loom_domain::{
    Result,
    fairness::{self, Head, conversation_of},
};

use crate::{Unit, params};

/// The `seq` of the head whose turn it is.
pub(crate) fn pick(unit: &mut Unit<'_>, agent: &str, heads: &[(String, u64)]) -> Result<Option<u64>> {
    let head = |(queue_key, seq): &(String, u64)| {
        let conversation_key = conversation_of(queue_key);
        Ok(Head {
            conversation_key: conversation_key.to_owned(),
            queue_key: queue_key.clone(),
            seq: *seq,
            conversation_served: served(unit, agent, conversation_key, "")?,
            thread_served: served(unit, agent, conversation_key, queue_key)?,
        })
    };
    let heads = heads.iter().map(head).collect::<Result<Vec<Head>>>()?;
    Ok(fairness::pick(&heads).map(|head| head.seq))
}

/// When a conversation (empty key) or a queue key of it was last served; 0 for never.
fn served(unit: &mut Unit<'_>, agent: &str, conversation: &str, key: &str) -> Result<u64> {
    let sql =
        "SELECT served FROM queue_marks WHERE agent_id = ?1 AND conversation_key = ?2 AND queue_key = ?3";
    Ok(unit.tx.first(sql, &params![agent, conversation, key])?.map_or(0, |row| row.uint(0)))
}

/// Records that a queue key was served.
pub(crate) fn mark_served(unit: &mut Unit<'_>, agent: &str, queue_key: &str) -> Result<()> {
    let served = unit.seq()?;
    for key in ["", queue_key] {
        unit.tx.execute(
            "INSERT INTO queue_marks (agent_id, conversation_key, queue_key, served) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (agent_id, conversation_key, queue_key) DO UPDATE SET served = excluded.served",
            &params![agent, conversation_of(queue_key), key, served],
        )?;
    }
    Ok(())
}
