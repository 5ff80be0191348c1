//! Endpoints: added, switched and removed by the owner.

use loom_api::Page;
use loom_domain::webhook::{Endpoint, Envelope, OVERLAP_MS, check_name};
use loom_domain::{Code, Error, Result};
use serde_json::json;

use crate::{
    Act, Audit, Store, Topic, Unit,
    docs::{self, Doc as _},
    params,
};

/// Most endpoints.
const ENDPOINTS_MAX: i64 = 1_000;
/// Most types of an endpoint, and characters of one.
const TYPES_MAX: usize = 100;
const TYPE_CHARS_MAX: usize = 200;

/// An endpoint as it should be. A new secret of a known endpoint replaces the old one after an overlap.
#[derive(Debug, Clone)]
pub struct EndpointChange {
    /// Name.
    pub name: String,
    /// Where deliveries go.
    pub url: String,
    /// Reference of the signing secret.
    pub secret_ref: String,
    /// Types that may be sent.
    pub event_types: Vec<String>,
    /// Form of what is sent.
    pub envelope: Envelope,
    /// How inbound deliveries are verified.
    pub scheme: String,
}

impl Store {
    /// Adds an endpoint, or changes the one of that name.
    pub async fn put_endpoint(&self, act: Act, change: EndpointChange) -> Result<Endpoint> {
        check_name(&change.name)?;
        let types = &change.event_types;
        if types.len() > TYPES_MAX || types.iter().any(|one| one.is_empty() || one.len() > TYPE_CHARS_MAX) {
            return Err(Error::invalid("event_types", format!("at most {TYPES_MAX} types")));
        }
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            match docs::get::<Endpoint>(unit.tx, &change.name)? {
                Some(_) => changed(unit, &change),
                None => added(unit, &change),
            }
        })
        .await
    }

    /// Switches an endpoint.
    pub async fn switch_endpoint(&self, act: Act, name: String, enabled: bool) -> Result<Endpoint> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let mut endpoint: Endpoint = docs::require_locked(unit.tx, &name)?;
            if endpoint.enabled != enabled {
                endpoint.enabled = enabled;
                endpoint.disabled_reason = None;
                endpoint.failing_since = None;
                record(unit, &mut endpoint, "endpoint.switched")?;
            }
            Ok(endpoint)
        })
        .await
    }

    /// Removes an endpoint; what still waits for it is given up before, a step at a time.
    pub async fn remove_endpoint(&self, act: Act, name: String) -> Result<Endpoint> {
        loop {
            if let Some(removed) = self.remove_endpoint_step(act.clone(), name.clone()).await? {
                return Ok(removed);
            }
        }
    }

    /// One step of a removal; gives the endpoint once it is removed.
    pub(crate) async fn remove_endpoint_step(&self, act: Act, name: String) -> Result<Option<Endpoint>> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let endpoint: Endpoint = docs::require_locked(unit.tx, &name)?;
            if !super::ended::give_up(unit, &name, "endpoint_removed")? {
                return Ok(None);
            }
            unit.tx.execute("DELETE FROM webhook_endpoints WHERE id = ?1", &params![name.as_str()])?;
            tell(unit, &endpoint, "endpoint.removed", None)?;
            Ok(Some(endpoint))
        })
        .await
    }

    /// One endpoint.
    pub async fn endpoint(&self, name: String) -> Result<Endpoint> {
        self.read(move |tx| docs::require(tx, &name)).await
    }

    /// Every endpoint, by name.
    pub async fn endpoints(&self) -> Result<Page<Endpoint>> {
        let items = self.read(|tx| docs::select(tx, "1 = 1 ORDER BY id", &[])).await?;
        Ok(Page { items, next_cursor: None })
    }
}

fn added(unit: &mut Unit<'_>, change: &EndpointChange) -> Result<Endpoint> {
    if unit.tx.number("SELECT COUNT(*) FROM webhook_endpoints", &[])? >= ENDPOINTS_MAX {
        return Err(Error::new(Code::TooMany, format!("at most {ENDPOINTS_MAX} endpoints")));
    }
    let endpoint = Endpoint {
        name: change.name.clone(),
        seq: unit.seq()?,
        url: change.url.clone(),
        secret_ref: change.secret_ref.clone(),
        previous_secret_ref: None,
        previous_until: None,
        event_types: change.event_types.clone(),
        envelope: change.envelope,
        scheme: change.scheme.clone(),
        enabled: true,
        disabled_reason: None,
        failing_since: None,
        created_at: unit.now,
        updated_at: unit.now,
        version: 1,
    };
    docs::insert(unit.tx, &endpoint)?;
    tell(unit, &endpoint, "endpoint.added", None)?;
    Ok(endpoint)
}

fn changed(unit: &mut Unit<'_>, change: &EndpointChange) -> Result<Endpoint> {
    let mut endpoint: Endpoint = docs::require_locked(unit.tx, &change.name)?;
    if endpoint.secret_ref != change.secret_ref {
        endpoint.previous_secret_ref =
            Some(std::mem::replace(&mut endpoint.secret_ref, change.secret_ref.clone()));
        endpoint.previous_until = Some(unit.now.plus_ms(OVERLAP_MS));
    }
    endpoint.url.clone_from(&change.url);
    endpoint.event_types.clone_from(&change.event_types);
    endpoint.scheme.clone_from(&change.scheme);
    endpoint.envelope = change.envelope;
    record(unit, &mut endpoint, "endpoint.changed")?;
    Ok(endpoint)
}

/// Writes a changed endpoint back.
pub(super) fn record(unit: &mut Unit<'_>, endpoint: &mut Endpoint, event: &'static str) -> Result<()> {
    let before = endpoint.version;
    endpoint.version += 1;
    endpoint.updated_at = unit.now;
    docs::update(unit.tx, endpoint)?;
    tell(unit, endpoint, event, Some(before))
}

fn tell(unit: &mut Unit<'_>, endpoint: &Endpoint, event: &'static str, before: Option<u64>) -> Result<()> {
    unit.change(event, endpoint.id(), None, endpoint.version, &[])?;
    unit.wake(Topic::Outbox);
    unit.audit(&Audit {
        action: event,
        object: endpoint.id(),
        versions: (before, Some(endpoint.version)),
        outcome: "ok",
        detail: json!({"enabled": endpoint.enabled, "reason": endpoint.disabled_reason}),
    })
}
