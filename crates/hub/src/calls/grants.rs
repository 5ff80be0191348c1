//! Grants of Agents, checked before any run that is not the owner's.

use std::collections::BTreeSet;

use loom_api::{Page, query, request};
use loom_capabilities::Prepared;
use loom_domain::grant::{GrantEffect, Wanted, require};
use loom_domain::{Code, Error, Grant, GrantId, Principal, Result};
use loom_store::ops::grants::NewGrant;

use crate::hub::Hub;

/// Longest life of a grant, seconds.
const LIFE_SECONDS_MAX: u64 = 10 * 365 * 24 * 3_600;

impl Hub {
    /// Gives an Agent a grant of what the catalog knows.
    pub async fn give_grant(&self, who: Principal, request: request::GiveGrant) -> Result<Grant> {
        let catalog = self.catalog().await?;
        let entry = catalog.capability(&request.capability)?.entry();
        let mut keys = BTreeSet::new();
        for id in &request.operations {
            let operation = entry.find_operation(id).ok_or_else(|| {
                Error::new(Code::OperationNotFound, format!("{} has no operation {id}", entry.id))
            })?;
            keys.extend(operation.resource_keys.iter().cloned());
        }
        if let Some(unknown) = request.resources.keys().find(|key| !keys.contains(*key)) {
            let known: Vec<_> = keys.into_iter().collect();
            return Err(Error::invalid("resource", format!("{unknown} is no key of these operations"))
                .with_hint(format!("keys: {}", known.join(", "))));
        }
        let mut resources = request.resources;
        // Repositories are told in lower case by every connector that touches one.
        for value in resources.get_mut("repo").into_iter().flatten() {
            value.make_ascii_lowercase();
        }
        let act = self.act(who);
        let life = request.expires_seconds.map(|seconds| seconds.min(LIFE_SECONDS_MAX));
        let life_ms = life.map(|seconds| i64::try_from(seconds).unwrap_or(0) * 1_000);
        let new = NewGrant {
            agent: request.agent,
            capability_id: entry.qualified(),
            operations: request.operations,
            resources,
            effect: request.effect.unwrap_or(GrantEffect::Read),
            expires_at: life_ms.map(|ms| act.now.plus_ms(ms)),
        };
        self.store().give_grant(act, new).await
    }

    /// The live grants of an Agent; an Agent sees its own.
    pub async fn grants(&self, who: Principal, query: query::Grants) -> Result<Page<Grant>> {
        if let (Some(capability), None, false) =
            (&query.capability, &query.agent, matches!(who, Principal::Agent(_)))
        {
            let items = self.store().grants_for(capability.clone()).await?;
            return Ok(Page { items, next_cursor: None });
        }
        let named = match query.agent {
            Some(name) => Some(self.store().agent_by(name).await?.id),
            None => None,
        };
        let agent = match (who, named) {
            (Principal::Agent(own), Some(named)) if own != named => {
                return Err(Error::new(Code::Forbidden, "an Agent sees its own grants only"));
            }
            (Principal::Agent(own), _) => own,
            (_, Some(named)) => named,
            (_, None) => return Err(Error::new(Code::MissingField, "agent: whose grants?")),
        };
        Ok(Page { items: self.store().grants_of(agent).await?, next_cursor: None })
    }

    /// Takes a grant back; the next call is refused.
    pub async fn revoke_grant(&self, who: Principal, id: GrantId) -> Result<Grant> {
        self.store().revoke_grant(self.act(who), id).await
    }

    /// Refuses a call that no grant of its maker covers.
    pub(super) async fn authorise(&self, who: &Principal, prepared: &Prepared) -> Result<()> {
        let agent = match who {
            Principal::Owner => return Ok(()),
            Principal::Agent(id) => id.clone(),
            _ => return Err(Error::new(Code::Forbidden, "only the owner and Agents run connectors")),
        };
        let call = &prepared.call;
        let wanted = Wanted {
            capability_id: &call.connector_id,
            operation: &call.operation,
            writes: call.effect == "write",
            resources: &call.resources,
            keys: &prepared.resource_keys,
        };
        require(&self.store().grants_of(agent).await?, &wanted, self.now())
    }
}
