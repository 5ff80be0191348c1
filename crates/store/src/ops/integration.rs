//! The configuration as one tree: read whole, and changed whole in one transaction that leaves a record behind.

mod apply;
mod tree;

use loom_domain::integration::{Object, Plan, Tree};
use loom_domain::{Code, Error, OperationId, Result, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Act, Audit, Row, Store, Tx, Unit, params};

/// Applies that are listed.
const APPLIES_MAX: u32 = 100;

/// What is applied, and what the rules of the installation are.
#[derive(Debug, Clone)]
pub struct Apply {
    /// The plan, as it was shown and approved.
    pub plan: Plan,
    /// Revision of the branch.
    pub revision: String,
    /// Apply that is taken back.
    pub reverts: Option<OperationId>,
    /// Sets of compatible trust domains.
    pub groups: Vec<Vec<String>>,
    /// Providers of installed connectors.
    pub installed: Vec<String>,
}

/// An apply that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// Id.
    pub apply_id: OperationId,
    /// When.
    pub at: Timestamp,
    /// Revision of the branch.
    pub revision: String,
    /// Apply that it took back.
    pub reverts: Option<OperationId>,
    /// The plan.
    pub plan: Plan,
    /// Digest of the configuration after it.
    pub after_digest: String,
    /// The configuration before it.
    pub before: Vec<Object>,
}

impl Store {
    /// The configuration as it is.
    pub async fn integration_tree(&self) -> Result<Tree> {
        self.read(tree::read).await
    }

    /// Changes the configuration as a plan says, or not at all. A plan for another configuration is refused.
    pub async fn apply_integration(&self, act: Act, apply: Apply) -> Result<Applied> {
        let applied = self.write(act, move |unit| {
            unit.principal.require_owner()?;
            run(unit, &apply)
        });
        let applied = applied.await?;
        crate::fail::point("integration.apply.after_commit")?;
        Ok(applied)
    }

    /// Applies, the newest first.
    pub async fn integration_applies(&self) -> Result<Vec<Applied>> {
        self.read(|tx| {
            let sql = "SELECT doc FROM integration_applies ORDER BY seq DESC LIMIT ?1";
            tx.query(sql, &params![APPLIES_MAX])?.iter().map(|row| row.doc(0)).collect()
        })
        .await
    }

    /// One apply.
    pub async fn integration_apply(&self, id: OperationId) -> Result<Applied> {
        self.read(move |tx| {
            let row = tx.first("SELECT doc FROM integration_applies WHERE id = ?1", &params![id.as_str()])?;
            row.map(|row| row.doc(0)).transpose()?.ok_or_else(|| Error::not_found("apply", id.as_str()))
        })
        .await
    }
}

/// Applies of a window, for reports: when, which revision, how many objects.
pub(super) fn applies_between(
    tx: &mut dyn Tx,
    start: Timestamp,
    end: Timestamp,
) -> Result<Vec<(Timestamp, String, usize)>> {
    let sql = "SELECT doc FROM integration_applies WHERE at >= ?1 AND at < ?2 ORDER BY at, id LIMIT 1000";
    let told = |row: &Row| {
        let applied: Applied = row.doc(0)?;
        Ok((applied.at, applied.revision, applied.plan.changes.len()))
    };
    tx.query(sql, &params![start, end])?.iter().map(told).collect()
}

fn run(unit: &mut Unit<'_>, apply: &Apply) -> Result<Applied> {
    let before = tree::read(unit.tx)?;
    if before.digest() != apply.plan.hub_digest {
        return Err(Error::new(
            Code::VersionConflict,
            "the configuration has changed since the plan was made",
        )
        .with_hint("Look at the new plan and apply it."));
    }
    if !apply.plan.is_whole() {
        return Err(Error::new(Code::PlanChanged, "the plan does not have the digest that it names"));
    }
    apply::changes(unit, apply)?;
    let after = tree::read(unit.tx)?;
    crate::fail::point("integration.apply.before_commit")?;
    let applied = Applied {
        apply_id: OperationId::new(unit.now.0, unit.random()),
        at: unit.now,
        revision: apply.revision.clone(),
        reverts: apply.reverts.clone(),
        plan: apply.plan.clone(),
        after_digest: after.digest(),
        before: before.to_objects(),
    };
    let seq = unit.seq()?;
    let doc = serde_json::to_string(&applied).map_err(Error::internal)?;
    unit.tx.execute(
        "INSERT INTO integration_applies (id, seq, at, revision, doc) VALUES (?1, ?2, ?3, ?4, ?5)",
        &params![applied.apply_id.as_str(), seq, applied.at, applied.revision.as_str(), doc],
    )?;
    unit.change("integration.applied", applied.apply_id.as_str(), None, 1, &[])?;
    let detail = json!({"revision": applied.revision, "plan": applied.plan.plan_digest});
    unit.audit(&Audit {
        action: "integration.apply",
        object: applied.apply_id.as_str(),
        versions: (None, Some(1)),
        outcome: "ok",
        detail,
    })?;
    Ok(applied)
}
