//! Marks that keep an Agent's queue fair: when each conversation and key was last served.

use std::collections::HashMap;

use loom_domain::{
    Result,
    fairness::{self, Head, conversation_of},
};

use crate::{Unit, params};

/// The `seq` of the head whose turn it is.
pub(crate) fn pick(unit: &mut Unit<'_>, agent: &str, heads: &[(String, u64)]) -> Result<Option<u64>> {
    let sql = "SELECT conversation_key, queue_key, served FROM queue_marks WHERE agent_id = ?1";
    let (mut conversations, mut keys) = (HashMap::new(), HashMap::new());
    for row in unit.tx.query(sql, &params![agent])? {
        match row.text(1) {
            "" => conversations.insert(row.text(0).to_owned(), row.uint(2)),
            key => keys.insert(key.to_owned(), row.uint(2)),
        };
    }
    let served = |marks: &HashMap<String, u64>, key: &str| marks.get(key).copied().unwrap_or(0);
    let heads: Vec<Head> = heads
        .iter()
        .map(|(queue_key, seq)| Head {
            conversation_key: conversation_of(queue_key).to_owned(),
            queue_key: queue_key.clone(),
            seq: *seq,
            conversation_served: served(&conversations, conversation_of(queue_key)),
            thread_served: served(&keys, queue_key),
        })
        .collect();
    Ok(fairness::pick(&heads).map(|head| head.seq))
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
