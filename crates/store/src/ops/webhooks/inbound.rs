//! What comes in: recorded before it is answered, once for each id; and what was refused.

use loom_api::{Page, query};
use loom_domain::webhook::REMEMBERED_MS;
use loom_domain::{EventId, Result, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::super::lookup::{self, Filter};
use crate::{
    Act, Store, Unit,
    docs::{self, Doc},
    page::PageQuery,
    params,
    tx::Value,
};

/// Refusals of a route that are kept.
const REFUSALS_MAX: i64 = 1_000;
/// Rows that are removed at once.
const PRUNED_MAX: i64 = 10_000;

/// One event of a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEvent {
    /// Id.
    pub id: EventId,
    /// Order of commit.
    pub seq: u64,
    /// Route.
    pub route: String,
    /// Id that the sender gave.
    pub event_key: String,
    /// When it came.
    pub at: Timestamp,
    /// Type, as the sender says.
    pub event_type: Option<String>,
    /// What was sent, redacted.
    pub data: Json,
}

/// A delivery that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRefusal {
    /// Id.
    pub id: EventId,
    /// Order of commit.
    pub seq: u64,
    /// Route.
    pub route: String,
    /// The one reason.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// An event to be recorded.
#[derive(Debug, Clone)]
pub struct NewHook {
    /// Id that the sender gave.
    pub event_key: String,
    /// Type.
    pub event_type: Option<String>,
    /// What was sent, redacted.
    pub data: Json,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// At least one event is new.
    Accepted,
    /// All of it was known.
    Duplicate,
}

impl Doc for HookEvent {
    const TABLE: &'static str = "hook_events";
    const KIND: &'static str = "hook event";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![("seq", self.seq.into()), ("route", self.route.as_str().into()), ("at", self.at.into())]
    }
}

impl Doc for HookRefusal {
    const TABLE: &'static str = "hook_refusals";
    const KIND: &'static str = "hook refusal";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("route", self.route.as_str().into()),
            ("reason", self.reason.as_str().into()),
            ("at", self.at.into()),
        ]
    }
}

/// Remembers a key; gives whether it was new.
fn is_first(unit: &mut Unit<'_>, route: &str, key: &str) -> Result<bool> {
    let sql = "INSERT INTO hook_seen (route, event_key, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    Ok(unit.tx.execute(sql, &params![route, key, unit.now])? > 0)
}

impl Store {
    /// Records what a route received. A delivery that is remembered is not recorded again, and neither is an event
    /// that another delivery brought.
    pub async fn record_hook(
        &self,
        act: Act,
        route: String,
        delivery_key: String,
        events: Vec<NewHook>,
    ) -> Result<Recorded> {
        self.write(act, move |unit| {
            let mut recorded = Recorded::Duplicate;
            if !is_first(unit, &route, &delivery_key)? {
                return Ok(recorded);
            }
            for event in &events {
                if event.event_key != delivery_key && !is_first(unit, &route, &event.event_key)? {
                    continue;
                }
                let stored = HookEvent {
                    id: EventId::new(unit.now.0, unit.random()),
                    seq: unit.seq()?,
                    route: route.clone(),
                    event_key: event.event_key.clone(),
                    at: unit.now,
                    event_type: event.event_type.clone(),
                    data: event.data.clone(),
                };
                docs::insert(unit.tx, &stored)?;
                unit.change("hook.received", stored.id.as_str(), None, 1, &[])?;
                recorded = Recorded::Accepted;
            }
            Ok(recorded)
        })
        .await
    }

    /// Records that a delivery was refused.
    pub async fn refuse_hook(&self, act: Act, route: String, reason: String) -> Result<()> {
        self.write(act, move |unit| {
            let refusal = HookRefusal {
                id: EventId::new(unit.now.0, unit.random()),
                seq: unit.seq()?,
                route: route.clone(),
                reason: reason.clone(),
                at: unit.now,
            };
            docs::insert(unit.tx, &refusal)?;
            // Whoever sends what is refused does not get to fill the disk.
            let oldest = "SELECT seq FROM hook_refusals WHERE route = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2";
            if let Some(row) = unit.tx.first(oldest, &params![route.as_str(), REFUSALS_MAX])? {
                let old = "DELETE FROM hook_refusals WHERE route = ?1 AND seq <= ?2";
                unit.tx.execute(old, &params![route.as_str(), row.int(0)])?;
            }
            Ok(())
        })
        .await
    }

    /// Events of a route, newest first.
    pub async fn hook_events(&self, route: String, query: query::Paging) -> Result<Page<HookEvent>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.eq("route", Some(&route));
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |event: &HookEvent| event.seq)?;
            lookup::map_page(page, Ok)
        })
        .await
    }

    /// Refusals of a route, newest first.
    pub async fn hook_refusals(&self, route: String, query: query::Paging) -> Result<Page<HookRefusal>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.eq("route", Some(&route));
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |refusal: &HookRefusal| refusal.seq)?;
            lookup::map_page(page, Ok)
        })
        .await
    }

    /// Forgets ids past their time, and events past `days`. Gives how many rows went.
    pub async fn prune_hooks(&self, act: Act, days: u32) -> Result<u64> {
        self.write(act, move |unit| {
            let seen = "DELETE FROM hook_seen WHERE (route, event_key) IN (SELECT route, event_key FROM hook_seen WHERE at < ?1 LIMIT ?2)";
            let forgotten = unit.tx.execute(seen, &params![unit.now.plus_ms(-REMEMBERED_MS), PRUNED_MAX])?;
            let before = unit.now.plus_ms(-i64::from(days).saturating_mul(24 * 3_600_000));
            let old = "DELETE FROM hook_events WHERE id IN (SELECT id FROM hook_events WHERE at < ?1 LIMIT ?2)";
            Ok(forgotten + unit.tx.execute(old, &params![before, PRUNED_MAX])?)
        })
        .await
    }
}
