//! What time does to gates, and what a crash leaves of them.

use loom_domain::{Gate, Result, Timestamp, gate::Outcome, gate::State};

use super::super::notices::{Tell, tell};
use super::record;
use crate::{Act, Store, Unit, docs, params};

/// Gates of one round.
const ROUND_MAX: i64 = 100;
/// Age at which an attempt of another node counts as lost, milliseconds. No run lasts that long.
const LOST_MS: i64 = 25 * 3_600_000;

impl Store {
    /// Ends the gates whose time ran out, each with one event. Gives how many.
    pub async fn expire_gates(&self, act: Act) -> Result<usize> {
        let now = act.now;
        // Most rounds find nothing; they write nothing.
        let due = "SELECT COUNT(*) FROM gates WHERE waits = 1 AND expires_at <= ?1";
        if self.read(move |tx| tx.number(due, &params![now])).await? == 0 {
            return Ok(0);
        }
        self.write(act, move |unit| {
            let due = "waits = 1 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2";
            let overdue: Vec<Gate> = docs::select(unit.tx, due, &params![unit.now, ROUND_MAX])?;
            let mut ended = 0;
            for found in overdue {
                let mut gate: Gate = docs::require_locked(unit.tx, found.id.as_str())?;
                if gate.is_overdue(unit.now) {
                    gate.state = State::Expired;
                    record(unit, &mut gate, "gate.expired", "ok")?;
                    ended += 1;
                }
            }
            Ok(ended)
        })
        .await
    }

    /// Removes plans past their time, with their gates; what is open, on its way or unknown stays. Gives how many.
    pub async fn prune_plans(&self, act: Act, days: u32) -> Result<u64> {
        self.write(act, move |unit| {
            let before = unit.now.plus_ms(-i64::from(days).saturating_mul(24 * 3_600_000));
            let ended = "DELETE FROM connector_plans WHERE created_at < ?1 AND id NOT IN \
                         (SELECT plan_id FROM gates WHERE waits = 1 OR outcome IN ('attempting', 'outcome_unknown'))";
            let removed = unit.tx.execute(ended, &params![before])?;
            if removed > 0 {
                let orphans = "DELETE FROM gates WHERE plan_id NOT IN (SELECT id FROM connector_plans)";
                unit.tx.execute(orphans, &params![])?;
            }
            Ok(removed)
        })
        .await
    }

    /// Attempts that this node left behind when it died, and those of nodes that are long gone, are of unknown
    /// fate from now on. Gives how many.
    pub async fn recover_gates(&self, act: Act, own: bool) -> Result<usize> {
        let (node, before) = (self.config().node.clone(), act.now.plus_ms(-LOST_MS));
        let (asked, any) = (node.clone(), "SELECT COUNT(*) FROM gates WHERE outcome = 'attempting'");
        if self.read(move |tx| tx.number(any, &[])).await? == 0 {
            return Ok(0);
        }
        self.write(act, move |unit| {
            let attempting = "outcome = 'attempting' ORDER BY seq LIMIT ?1";
            let open: Vec<Gate> = docs::select(unit.tx, attempting, &params![ROUND_MAX])?;
            let lost = |gate: &Gate| {
                (own && gate.node == asked) || gate.attempted_at.is_none_or(|at: Timestamp| at < before)
            };
            let mut found = 0;
            for gate in open.iter().filter(|gate| lost(gate)) {
                unknown(unit, gate)?;
                found += 1;
            }
            Ok(found)
        })
        .await
    }
}

fn unknown(unit: &mut Unit<'_>, found: &Gate) -> Result<()> {
    let mut gate: Gate = docs::require_locked(unit.tx, found.id.as_str())?;
    gate.end(Outcome::OutcomeUnknown, Some("outcome_unknown".to_owned()))?;
    record(unit, &mut gate, "gate.ended", Outcome::OutcomeUnknown.as_str())?;
    tell(
        unit,
        Tell {
            kind: "outcome_unknown",
            object: gate.id.as_str(),
            text: format!("it is not known whether the write of {} happened", gate.id),
            hint: format!(
                "loom value-connectors approve {} --gate {} --call-digest {} --settle sent|not-sent",
                gate.plan_id, gate.id, gate.call_digest
            ),
        },
    )
}
