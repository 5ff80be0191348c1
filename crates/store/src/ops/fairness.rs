//! Marks that keep an Agent's queue fair: when each conversation and thread was last served.

use loom_domain::{Result, fairness};

use crate::{Unit, params};

/// The `seq` of the head whose turn it is.
pub(crate) fn pick(unit: &mut Unit<'_>, agent: &str, heads: &[(String, u64)]) -> Result<Option<u64>> {
    let sql = "SELECT conversation_key, queue_key, served FROM queue_marks WHERE agent_id = ?1";
    let rows = unit.tx.query(sql, &params![agent])?;
    let served = |conversation: &str, queue: &str| {
        rows.iter()
            .find(|row| row.text(0) == conversation && row.text(1) == queue)
            .map_or(0, |row| row.uint(2))
    };
    let ready: Vec<fairness::Head> = heads
        .iter()
        .map(|(queue_key, seq)| {
            let conversation = conversation_of(queue_key);
            fairness::Head {
                conversation_served: served(&conversation, ""),
                thread_served: served(&conversation, queue_key),
                conversation_key: conversation,
                queue_key: queue_key.clone(),
                seq: *seq,
            }
        })
        .collect();
    Ok(fairness::pick(&ready).map(|head| head.seq))
}

/// Records that a queue key was served.
pub(crate) fn mark_served(unit: &mut Unit<'_>, agent: &str, queue_key: &str, _seq: u64) -> Result<()> {
    let served = unit.seq()?;
    let conversation = conversation_of(queue_key);
    for key in ["", queue_key] {
        unit.tx.execute(
            "INSERT INTO queue_marks (agent_id, conversation_key, queue_key, served) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (agent_id, conversation_key, queue_key) DO UPDATE SET served = excluded.served",
            &params![agent, conversation.as_str(), key, served],
        )?;
    }
    Ok(())
}

/// The conversation part of a queue key (`address/conversation/thread`).
fn conversation_of(queue_key: &str) -> String {
    queue_key.rsplit_once('/').map_or(queue_key, |(conversation, _)| conversation).to_owned()
}
