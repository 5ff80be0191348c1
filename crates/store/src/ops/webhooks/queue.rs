//! Deliveries: stored, taken when they are due, and ended.

use loom_api::{Page, query};
use loom_domain::webhook::{Delivery, DeliveryState, Endpoint, FAILING_MS, TTL_MS, Tried, next_due};
use loom_domain::{Code, Error, Result, Timestamp};

use super::super::lookup::{self, Filter};
use super::super::notices::{Tell, tell};
use super::ended::{ENDED_MAX, dead, expire};
use super::endpoints;
use crate::{Act, Store, Topic, Unit, docs, page::PageQuery, params};

/// Time after which the delivery of an attempt without an end is due again, milliseconds; no attempt takes so long.
const LEASE_MS: i64 = 60_000;
/// Deliveries that wait at once.
const WAITING_MAX: i64 = 100_000;
/// Days that ended deliveries are kept, milliseconds.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// A delivery to be made.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// The `webhook-id`.
    pub id: String,
    /// Endpoint.
    pub endpoint: String,
    /// Type.
    pub event_type: String,
    /// Body.
    pub body: String,
    /// Digest of the data that was ordered.
    pub data_sha256: String,
    /// Headers of the envelope.
    pub headers: Vec<(String, String)>,
}

impl Store {
    /// Stores a delivery. The same id with the same data gives the one there is.
    pub async fn add_delivery(&self, act: Act, new: NewDelivery) -> Result<Delivery> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            if let Some(known) = docs::get::<Delivery>(unit.tx, &new.id)? {
                return same(known, &new);
            }
            let endpoint: Endpoint = docs::require(unit.tx, &new.endpoint)?;
            if !endpoint.enabled {
                return Err(Error::new(
                    Code::Disabled,
                    format!("the endpoint {} is switched off", new.endpoint),
                )
                .with_hint(format!("loom value-connectors http-webhook endpoint enable {}", new.endpoint)));
            }
            let waiting = "SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'pending'";
            if unit.tx.number(waiting, &[])? >= WAITING_MAX {
                return Err(Error::new(Code::QueueFull, format!("{WAITING_MAX} deliveries wait already")));
            }
            let delivery = Delivery {
                id: new.id.clone(),
                seq: unit.seq()?,
                endpoint: new.endpoint.clone(),
                event_type: new.event_type.clone(),
                body: new.body.clone(),
                data_sha256: Some(new.data_sha256.clone()),
                headers: new.headers.clone(),
                state: DeliveryState::Pending,
                attempts: 0,
                due_at: unit.now,
                expires_at: unit.now.plus_ms(TTL_MS),
                last_status: None,
                last_error: None,
                answer: None,
                created_at: unit.now,
                version: 1,
            };
            docs::insert(unit.tx, &delivery)?;
            unit.change("delivery.added", &delivery.id, None, 1, &[])?;
            unit.wake(Topic::Outbox);
            Ok(delivery)
        })
        .await
    }

    /// Deliveries, newest first.
    pub async fn deliveries(&self, endpoint: Option<String>, query: query::Paging) -> Result<Page<Delivery>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.eq("endpoint", endpoint.as_deref());
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |delivery: &Delivery| delivery.seq)?;
            lookup::map_page(page, Ok)
        })
        .await
    }

    /// When the next delivery of an enabled endpoint is due.
    pub async fn next_delivery_at(&self) -> Result<Option<Timestamp>> {
        self.read(|tx| {
            let sql = "SELECT d.due_at FROM webhook_deliveries d WHERE d.state = 'pending' AND EXISTS \
                       (SELECT 1 FROM webhook_endpoints e WHERE e.id = d.endpoint AND e.enabled = 1) \
                       ORDER BY d.due_at LIMIT 1";
            Ok(tx.first(sql, &[])?.map(|row| Timestamp(row.int(0))))
        })
        .await
    }

    /// Takes the next delivery that is due, with its endpoint. Its attempt is counted before it is made. One
    /// past its time is given up instead.
    pub async fn take_delivery(&self, act: Act) -> Result<Option<(Delivery, Endpoint)>> {
        self.write(act, move |unit| {
            for _ in 0..ENDED_MAX {
                let Some(mut delivery) = next(unit)? else { return Ok(None) };
                if delivery.expires_at <= unit.now {
                    expire(unit, delivery)?;
                    continue;
                }
                let endpoint: Endpoint = docs::require(unit.tx, &delivery.endpoint)?;
                delivery.attempts += 1;
                delivery.due_at = unit.now.plus_ms(LEASE_MS);
                delivery.version += 1;
                docs::update(unit.tx, &delivery)?;
                return Ok(Some((delivery, endpoint)));
            }
            Ok(None)
        })
        .await
    }

    /// Writes down what the n-th attempt of a delivery came to. One that a later attempt has overtaken changes
    /// nothing. `jitter` is in 0..=1.
    pub async fn end_attempt(
        &self,
        act: Act,
        (id, attempt): (String, u32),
        tried: Tried,
        jitter: f64,
    ) -> Result<Delivery> {
        self.write(act, move |unit| {
            let mut delivery: Delivery = docs::require_locked(unit.tx, &id)?;
            if delivery.state != DeliveryState::Pending || delivery.attempts != attempt {
                return Ok(delivery);
            }
            delivery.last_status = tried.status;
            delivery.last_error = tried.error.map(|code| code.as_str().to_owned());
            delivery.answer.clone_from(&tried.answer);
            let due = next_due(delivery.attempts, &tried, unit.now, jitter)
                .filter(|due| *due < delivery.expires_at);
            match (tried.is_delivered(), due) {
                (true, _) => delivery.state = DeliveryState::Delivered,
                (false, Some(due)) if !tried.is_gone() => delivery.due_at = due,
                (false, _) => delivery.state = DeliveryState::Dead,
            }
            delivery.version += 1;
            docs::update(unit.tx, &delivery)?;
            unit.change("delivery.changed", &delivery.id, None, delivery.version, &["state"])?;
            if delivery.state == DeliveryState::Dead {
                dead(unit, &delivery)?;
            }
            of_endpoint(unit, &delivery, &tried)?;
            Ok(delivery)
        })
        .await
    }

    /// Removes ended deliveries past their time. Gives how many.
    pub async fn prune_deliveries(&self, act: Act) -> Result<u64> {
        self.write(act, move |unit| {
            let before = unit.now.plus_ms(-KEPT_MS);
            unit.tx.execute(
                "DELETE FROM webhook_deliveries WHERE state <> 'pending' AND created_at < ?1",
                &params![before],
            )
        })
        .await
    }
}

/// The next delivery that may be made.
fn next(unit: &mut Unit<'_>) -> Result<Option<Delivery>> {
    let sql = "SELECT d.id FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint \
               WHERE d.state = 'pending' AND e.enabled = 1 AND d.due_at <= ?1 ORDER BY d.due_at, d.seq LIMIT 1";
    let Some(row) = unit.tx.first(sql, &params![unit.now])? else { return Ok(None) };
    let delivery: Delivery = docs::require_locked(unit.tx, row.text(0))?;
    let is_due = delivery.state == DeliveryState::Pending && delivery.due_at <= unit.now;
    Ok(Some(delivery).filter(|_| is_due))
}

fn same(known: Delivery, new: &NewDelivery) -> Result<Delivery> {
    if known.endpoint != new.endpoint || known.event_type != new.event_type {
        return Err(Error::new(Code::AlreadyExists, format!("the id {} is another delivery's", known.id)));
    }
    match known.data_sha256.as_ref().is_none_or(|digest| *digest == new.data_sha256) {
        true => Ok(known),
        false => {
            let message = format!("the id {} was used for other data", known.id);
            Err(Error::new(Code::IdempotencyConflict, message).with_detail("pointer", "/id"))
        }
    }
}

/// What an attempt tells of its endpoint. Only a switch is a change to the owner's record; how long it fails
/// is kept beside it.
fn of_endpoint(unit: &mut Unit<'_>, delivery: &Delivery, tried: &Tried) -> Result<()> {
    let Some(mut endpoint) = docs::get_locked::<Endpoint>(unit.tx, &delivery.endpoint)? else {
        return Ok(());
    };
    let before = endpoint.clone();
    if tried.is_delivered() {
        endpoint.failing_since = None;
    } else {
        let since = *endpoint.failing_since.get_or_insert(unit.now);
        let reason = match tried.is_gone() {
            true => Some("gone"),
            false if unit.now.since_ms(since) > FAILING_MS => Some("failing"),
            false => None,
        };
        if let Some(reason) = reason.filter(|_| endpoint.enabled) {
            endpoint.enabled = false;
            endpoint.disabled_reason = Some(reason.to_owned());
            let text = match reason {
                "gone" => format!("the endpoint {} answered 410 and was switched off", endpoint.name),
                _ => format!("the endpoint {} only failed for five days and was switched off", endpoint.name),
            };
            let hint = format!("loom value-connectors http-webhook endpoint enable {}", endpoint.name);
            tell(unit, Tell { kind: "webhook_disabled", object: &endpoint.name, text, hint })?;
        }
    }
    match (endpoint.enabled == before.enabled, endpoint == before) {
        (false, _) => endpoints::record(unit, &mut endpoint, "endpoint.changed"),
        (true, false) => docs::update(unit.tx, &endpoint),
        (true, true) => Ok(()),
    }
}
