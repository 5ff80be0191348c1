//! The owner's decisions about one gate, named by its id.

use loom_domain::{Code, Error, Gate, GateId, OperationId, Principal, Result};

use super::record;
use crate::{Act, Store, docs};

/// What the owner decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The write may be made once, within so many seconds.
    Approve {
        /// Life of the approval.
        seconds: u64,
    },
    /// It may not be made.
    Deny {
        /// Why.
        reason: Option<String>,
    },
    /// A write of unknown fate was made, or was not.
    Settle {
        /// Whether it was made.
        sent: bool,
    },
}

impl Store {
    /// The owner decides about one gate. The digest must be that of the gate. A dry run refuses the same.
    pub async fn decide_gate(
        &self,
        act: Act,
        plan: OperationId,
        gate: GateId,
        call_digest: String,
        decision: Decision,
        dry_run: bool,
    ) -> Result<Gate> {
        self.write_unless(dry_run, act, move |unit| {
            // The hub itself never approves: nobody but the owner does.
            if unit.principal != Principal::Owner {
                return Err(Error::new(Code::Forbidden, "only the owner decides about gates"));
            }
            let mut gate: Gate = docs::require_locked(unit.tx, gate.as_str())?;
            if gate.plan_id != plan {
                return Err(Error::not_found("gate", gate.id.as_str()));
            }
            let event = match &decision {
                Decision::Approve { seconds } => {
                    gate.approve(&call_digest, *seconds, unit.now)?;
                    "gate.approved"
                }
                Decision::Deny { reason } => {
                    gate.deny(&call_digest, reason.clone(), unit.now)?;
                    "gate.denied"
                }
                Decision::Settle { sent } => {
                    gate.settle(&call_digest, *sent)?;
                    "gate.settled"
                }
            };
            record(unit, &mut gate, event, "ok")?;
            Ok(gate)
        })
        .await
    }
}
