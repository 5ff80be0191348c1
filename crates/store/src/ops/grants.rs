//! Grants: what Agents may run.

use std::collections::BTreeMap;

use loom_domain::{
    AgentId, Code, Error, Grant, GrantId, Result, Timestamp,
    grant::{GrantEffect, OPERATIONS_MAX, VALUE_BYTES_MAX, VALUES_MAX},
};
use serde_json::json;

use super::lookup;
use crate::{
    Act, Audit, Store, Unit,
    docs::{self, Doc},
    params,
    tx::Value,
};

/// Live grants of one Agent.
const GRANTS_MAX: i64 = 500;
/// Resource keys of a grant.
const KEYS_MAX: usize = 16;

impl Doc for Grant {
    const TABLE: &'static str = "grants";
    const KIND: &'static str = "grant";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("agent_id", self.agent_id.as_str().into()),
            ("capability_id", self.capability_id.as_str().into()),
            ("revoked", self.revoked_at.is_some().into()),
        ]
    }
}

/// A grant to be given.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// Agent, by name or id.
    pub agent: String,
    /// Capability, with its package.
    pub capability_id: String,
    /// Operations.
    pub operations: Vec<String>,
    /// Values by resource key.
    pub resources: BTreeMap<String, Vec<String>>,
    /// Widest effect.
    pub effect: GrantEffect,
    /// Its end.
    pub expires_at: Option<Timestamp>,
}

impl Store {
    /// Gives an Agent a grant.
    pub async fn give_grant(&self, act: Act, new: NewGrant) -> Result<Grant> {
        check(&new, act.now)?;
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let agent = lookup::agent(unit.tx, &new.agent)?;
            within_limit(unit, &agent.id)?;
            let grant = Grant {
                id: GrantId::new(unit.now.0, unit.random()),
                seq: unit.seq()?,
                agent_id: agent.id,
                capability_id: new.capability_id.clone(),
                operations: new.operations.clone(),
                resources: new.resources.clone(),
                effect: new.effect,
                expires_at: new.expires_at,
                granted_by: unit.principal.to_string(),
                granted_at: unit.now,
                revoked_at: None,
                version: 1,
            };
            docs::insert(unit.tx, &grant)?;
            record(unit, &grant, "grant.given")?;
            Ok(grant)
        })
        .await
    }

    /// Takes a grant back; a repeat changes nothing.
    pub async fn revoke_grant(&self, act: Act, id: GrantId) -> Result<Grant> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let mut grant: Grant = docs::require_locked(unit.tx, id.as_str())?;
            if grant.revoked_at.is_none() {
                grant.revoked_at = Some(unit.now);
                grant.version += 1;
                docs::update(unit.tx, &grant)?;
                record(unit, &grant, "grant.revoked")?;
            }
            Ok(grant)
        })
        .await
    }

    /// Every grant of an Agent that was not taken back, oldest first.
    pub async fn grants_of(&self, agent: AgentId) -> Result<Vec<Grant>> {
        self.read(move |tx| {
            docs::select(tx, "agent_id = ?1 AND revoked = 0 ORDER BY seq", &params![agent.as_str()])
        })
        .await
    }

    /// The grants of a capability that were not taken back.
    pub async fn grants_for(&self, capability_id: String) -> Result<Vec<Grant>> {
        self.read(move |tx| {
            let condition = "capability_id = ?1 AND revoked = 0 ORDER BY seq";
            docs::select(tx, condition, &params![capability_id.as_str()])
        })
        .await
    }
}

/// Refuses one grant too many. Those that ran out do not count.
fn within_limit(unit: &mut Unit<'_>, agent: &AgentId) -> Result<()> {
    let given = "SELECT COUNT(*) FROM grants WHERE agent_id = ?1 AND revoked = 0";
    if unit.tx.number(given, &params![agent.as_str()])? < GRANTS_MAX {
        return Ok(());
    }
    let given: Vec<Grant> = docs::select(unit.tx, "agent_id = ?1 AND revoked = 0", &params![agent.as_str()])?;
    let live = given.iter().filter(|grant| grant.is_live(unit.now)).count();
    if i64::try_from(live).unwrap_or(i64::MAX) < GRANTS_MAX {
        return Ok(());
    }
    Err(Error::new(Code::TooMany, format!("an Agent has at most {GRANTS_MAX} live grants"))
        .with_hint("loom capability revoke GRANT"))
}

fn check(new: &NewGrant, now: Timestamp) -> Result<()> {
    if new.operations.is_empty() || new.operations.len() > OPERATIONS_MAX {
        return Err(Error::invalid("op", format!("expected 1 to {OPERATIONS_MAX} operations")));
    }
    let fits = |values: &Vec<String>| {
        (1..=VALUES_MAX).contains(&values.len())
            && values.iter().all(|value| !value.is_empty() && value.len() <= VALUE_BYTES_MAX)
    };
    if new.resources.len() > KEYS_MAX || !new.resources.values().all(fits) {
        return Err(Error::invalid("resource", "expected KEY=VALUE of at most 512 bytes"));
    }
    match new.expires_at {
        Some(end) if end <= now => Err(Error::new(Code::InvalidTime, "a grant cannot end in the past")),
        _ => Ok(()),
    }
}

fn record(unit: &mut Unit<'_>, grant: &Grant, event: &'static str) -> Result<()> {
    unit.change(event, grant.id.as_str(), Some(grant.agent_id.as_str()), grant.version, &[])?;
    unit.audit(&Audit {
        action: event,
        object: grant.id.as_str(),
        versions: (Some(grant.version - 1).filter(|before| *before > 0), Some(grant.version)),
        outcome: "ok",
        detail: json!({"agent": grant.agent_id, "capability": grant.capability_id, "operations": grant.operations,
            "effect": grant.effect}),
    })
}
