//! Gated writes: which bytes an approval is for, and how a run uses one (capability specification 4.8).
//!
//! A run names its approval; whether there is one, only the [`GateBook`] of the world says. A world without a book
//! approves nothing, so programs that build on this library cannot write past the owner.

mod book;
mod digest;
mod file;
mod order;
mod shown;

use loom_domain::{Code, Error, Result, gate::Outcome};

pub use book::GateBook;
pub use digest::{PlannedWrite, call_digest};
pub(crate) use file::form;
pub use file::{check_plan, parse_plan};
pub use order::{Prepared, prepare, prepare_all};
pub use shown::spelled_out;

use crate::{Capability, Effects, Payload, RunPlan, RunRequest, World};

/// What a run may write, because it holds a used gate. Only [`enter`] makes one.
#[derive(Debug, Clone)]
pub(crate) struct Permit {
    /// Gate; none in a rehearsal on a mock.
    gate_id: Option<String>,
    /// Key that a provider tells repeats by.
    pub(crate) idempotency_key: Option<String>,
}

/// Uses the approval that a gated run names; what needs no gate passes without one.
pub(crate) async fn enter(
    world: &World,
    capability: &dyn Capability,
    request: &RunRequest,
    plan: &RunPlan,
    run_id: &str,
) -> Result<Option<Permit>> {
    if !capability.is_gated(&world.principal, request) {
        return Ok(None);
    }
    if world.rehearses {
        return Ok(Some(Permit { gate_id: None, idempotency_key: None }));
    }
    let Some(approval) = &request.approval else { return Err(needed(&plan.connector_id)) };
    let book = world.gates.as_ref().ok_or_else(|| needed(&plan.connector_id))?;
    let (sender, key) = (approval.sender_identity.as_deref(), approval.idempotency_key.as_str());
    let digest = call_digest(world, plan, true, &request.settings, sender, key).await?;
    book.begin(&approval.gate_id, &digest, run_id).await?;
    Ok(Some(Permit { gate_id: Some(approval.gate_id.clone()), idempotency_key: Some(key.to_owned()) }))
}

/// The refusal of a write that names no approval.
pub(crate) fn needed(connector: &str) -> Error {
    Error::new(Code::ApprovalRequired, "this operation writes, and needs an approval")
        .with_hint(format!("loom value-connectors plan --connector {connector} … --submit"))
}

/// Writes down what became of the write of a run.
pub(crate) async fn leave(world: &World, permit: &Permit, payload: &Payload) -> Result<()> {
    let (Some(gate), Some(book)) = (&permit.gate_id, &world.gates) else { return Ok(()) };
    let outcome = outcome(&payload.effects, payload.error.as_ref());
    let code = payload.error.as_ref().map(|error| error.code.as_str().to_owned());
    book.end(gate, outcome, code).await
}

/// What is known of a write: counted requests first, then what the answer said.
fn outcome(effects: &Effects, error: Option<&Error>) -> Outcome {
    // An answer of these does not say that nothing happened.
    let in_doubt = |status: u16| status >= 500 || status == 408 || status == 425;
    match (effects, error) {
        (effects, _) if effects.external_writes > 0 => Outcome::Confirmed,
        (effects, _) if effects.external_writes_unknown > 0 => Outcome::OutcomeUnknown,
        (effects, _) if effects.requests_sent == 0 => Outcome::Refused,
        (_, Some(error)) if error.code == Code::OutcomeUnknown => Outcome::OutcomeUnknown,
        (_, Some(error)) if error.http_status.is_some_and(in_doubt) => Outcome::OutcomeUnknown,
        _ => Outcome::Refused,
    }
}

#[cfg(test)]
mod tests;
