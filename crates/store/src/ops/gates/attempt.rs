//! The one use of a gate: `attempting` is on disk before the write, and its end afterwards.

use loom_domain::{Gate, GateId, Result, gate::Outcome};

use super::record;
use crate::{Act, Store, docs};

impl Store {
    /// Uses an approved gate for the write of a run. When this returns, the intent is on disk.
    pub async fn begin_gate(
        &self,
        act: Act,
        gate: GateId,
        call_digest: String,
        run_id: String,
    ) -> Result<Gate> {
        let begun = self
            .write(act, move |unit| {
                let mut gate: Gate = docs::require_locked(unit.tx, gate.as_str())?;
                gate.begin(&call_digest, &run_id, unit.node, unit.now)?;
                record(unit, &mut gate, "gate.used", "attempting")?;
                crate::fail::point("gate.attempt.before_commit")?;
                Ok(gate)
            })
            .await?;
        crate::fail::point("gate.attempt.after_commit")?;
        Ok(begun)
    }

    /// Writes down what became of the write.
    pub async fn end_gate(
        &self,
        act: Act,
        gate: GateId,
        outcome: Outcome,
        code: Option<String>,
    ) -> Result<Gate> {
        self.write(act, move |unit| {
            let mut gate: Gate = docs::require_locked(unit.tx, gate.as_str())?;
            gate.end(outcome, code.clone())?;
            record(unit, &mut gate, "gate.ended", outcome.as_str())?;
            crate::fail::point("gate.end.before_commit")?;
            Ok(gate)
        })
        .await
    }
}
