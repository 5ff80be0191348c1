//! Deliveries that are given up: out of time, or without an endpoint.

use loom_domain::Result;
use loom_domain::webhook::{Delivery, DeliveryState, TTL_MS};

use super::super::notices::{Tell, tell};
use crate::{Act, Store, Unit, docs, params};

/// Deliveries that are given up in one step.
pub(crate) const ENDED_MAX: usize = 100;

impl Store {
    /// Gives up deliveries past their time, those of switched-off endpoints among them. Gives how many; there may
    /// be more while it is not 0.
    pub async fn expire_deliveries(&self, act: Act) -> Result<usize> {
        self.write(act, move |unit| {
            // Whatever is not due has an attempt on its way, which ends it.
            let sql = "state = 'pending' AND due_at <= ?1 AND created_at <= ?2 ORDER BY due_at LIMIT ?3";
            let born = unit.now.plus_ms(-TTL_MS);
            let old: Vec<Delivery> = docs::select(unit.tx, sql, &params![unit.now, born, step()])?;
            let count = old.len();
            for delivery in old {
                expire(unit, delivery)?;
            }
            Ok(count)
        })
        .await
    }
}

fn step() -> i64 {
    i64::try_from(ENDED_MAX).unwrap_or(i64::MAX)
}

/// Ends a delivery whose time is over, and tells the owner.
pub(super) fn expire(unit: &mut Unit<'_>, mut delivery: Delivery) -> Result<()> {
    end(unit, &mut delivery, "delivery_expired")?;
    unit.change("delivery.changed", &delivery.id, None, delivery.version, &["state"])?;
    dead(unit, &delivery)
}

/// Tells the owner that a delivery was given up.
pub(super) fn dead(unit: &mut Unit<'_>, delivery: &Delivery) -> Result<()> {
    let text = format!(
        "the delivery {} to {} was given up after {} attempts",
        delivery.id, delivery.endpoint, delivery.attempts
    );
    let hint = format!("loom value-connectors http-webhook endpoint show {}", delivery.endpoint);
    tell(unit, Tell { kind: "webhook_dead_letter", object: &delivery.id, text, hint })
}

/// Gives up some of what waits for an endpoint; gives whether that was all.
pub(super) fn give_up(unit: &mut Unit<'_>, endpoint: &str, reason: &str) -> Result<bool> {
    let sql = "endpoint = ?1 AND state = 'pending' ORDER BY seq LIMIT ?2";
    let waiting: Vec<Delivery> = docs::select(unit.tx, sql, &params![endpoint, step()])?;
    let is_all = waiting.len() < ENDED_MAX;
    for mut delivery in waiting {
        end(unit, &mut delivery, reason)?;
    }
    Ok(is_all)
}

fn end(unit: &mut Unit<'_>, delivery: &mut Delivery, reason: &str) -> Result<()> {
    delivery.state = DeliveryState::Dead;
    delivery.last_error = Some(reason.to_owned());
    delivery.version += 1;
    docs::update(unit.tx, delivery)
}
