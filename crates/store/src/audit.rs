//! The append-only, hash-chained audit of every change (platform specification C.8).

use loom_domain::{Code, Error, Result};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::{
    params,
    tx::Tx,
    unit::{Audit, Unit},
};

const DOMAIN: &[u8] = b"loom-audit-1";
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const VERIFY_PAGE: i64 = 1_000;

/// Newest row of a node's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Order number in the chain, gap-free from 1.
    pub seq: u64,
    /// Hash of the row, hex.
    pub hash: String,
}

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Rows checked.
    pub rows: u64,
    /// Chains checked, one per node.
    pub nodes: u64,
}

pub(crate) fn append(unit: &mut Unit<'_>, row: &Audit<'_>) -> Result<()> {
    let head = match unit.head.take() {
        Some(head) => head,
        None => load_head(unit.tx, unit.node)?,
    };
    let seq = head.seq + 1;
    let body = json!({
        "node": unit.node, "seq": seq, "at": unit.now, "principal": unit.principal.to_string(), "action": row.action,
        "object": row.object, "version_before": row.versions.0, "version_after": row.versions.1,
        "outcome": row.outcome, "detail": row.detail,
    });
    let text = canonical(&body);
    let hash = chain_hash(&head.hash, &text);
    unit.tx.execute(
        "INSERT INTO audit (node, seq, at, principal, action, object_id, row_json, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &params![unit.node, seq, unit.now, unit.principal.to_string(), row.action, row.object, text, head.hash, hash.as_str()],
    )?;
    *unit.head = Some(Head { seq, hash });
    Ok(())
}

fn load_head(tx: &mut dyn Tx, node: &str) -> Result<Head> {
    let sql = "SELECT seq, hash FROM audit WHERE node = ?1 ORDER BY seq DESC LIMIT 1";
    Ok(match tx.first(sql, &params![node])? {
        Some(row) => Head { seq: row.uint(0), hash: row.text(1).to_owned() },
        None => Head { seq: 0, hash: GENESIS.to_owned() },
    })
}

/// Recomputes every chain. The first break is `audit_broken` with `detail.node` and `detail.seq`.
pub(crate) fn verify(tx: &mut dyn Tx) -> Result<Verified> {
    let nodes = tx.query("SELECT DISTINCT node FROM audit ORDER BY node", &[])?;
    let mut rows = 0;
    for node in &nodes {
        rows += verify_node(tx, node.text(0))?;
    }
    Ok(Verified { rows, nodes: u64::try_from(nodes.len()).unwrap_or(0) })
}

fn verify_node(tx: &mut dyn Tx, node: &str) -> Result<u64> {
    let mut head = Head { seq: 0, hash: GENESIS.to_owned() };
    loop {
        let page = tx.query(
            "SELECT seq, at, principal, action, object_id, row_json, prev_hash, hash FROM audit WHERE node = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            &params![node, head.seq, VERIFY_PAGE],
        )?;
        if page.is_empty() {
            return Ok(head.seq);
        }
        for row in &page {
            let seq = row.uint(0);
            let body: Json = serde_json::from_str(row.text(5)).unwrap_or(Json::Null);
            let columns_agree = body.get("seq") == Some(&json!(seq))
                && body.get("node") == Some(&json!(node))
                && body.get("at") == Some(&json!(loom_domain::Timestamp(row.int(1))))
                && body.get("principal") == Some(&json!(row.text(2)))
                && body.get("action") == Some(&json!(row.text(3)))
                && body.get("object") == Some(&json!(row.text(4)));
            let chained = seq == head.seq + 1
                && row.text(6) == head.hash
                && chain_hash(&head.hash, row.text(5)) == row.text(7);
            if !columns_agree || !chained {
                return Err(Error::new(
                    Code::AuditBroken,
                    format!("the audit chain of {node} breaks at row {}", head.seq + 1),
                )
                .with_detail("node", node)
                .with_detail("seq", head.seq + 1));
            }
            head = Head { seq, hash: row.text(7).to_owned() };
        }
    }
}

fn chain_hash(previous: &str, row: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN);
    hasher.update(previous.as_bytes());
    hasher.update(row.as_bytes());
    hex::encode(hasher.finalize())
}

/// JSON with sorted keys and no white space.
fn canonical(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by(|a, b| a.0.cmp(b.0));
            let members: Vec<_> =
                keys.iter().map(|(k, v)| format!("{}:{}", Json::from(k.as_str()), canonical(v))).collect();
            format!("{{{}}}", members.join(","))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}
