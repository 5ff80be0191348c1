//! What an event is judged under: stored objects, counts, limits.

use loom_domain::{
    Address, Agent, Membership, Result,
    decision::{Counters, DecisionInput, Judgement, Known},
};

use super::{Subject, counts};
use crate::{Unit, docs, params};

/// The stored objects an event is judged under.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Whether the Agent is archived.
    pub(crate) agent_archived: bool,
    /// Membership, archived ones left out.
    pub(crate) membership: Option<Membership>,
}

/// Reads what an event of a conversation is judged under.
pub(crate) fn context_of(tx: &mut dyn crate::Tx, address: &Address, conversation: &str) -> Result<Context> {
    let agent: Option<Agent> = docs::get(tx, address.agent_id.as_str())?;
    let membership = docs::find(
        tx,
        "address_id = ?1 AND conversation_id = ?2 AND archived = 0",
        &params![address.id.as_str(), conversation],
    )?;
    Ok(Context { agent_archived: agent.is_none_or(|a| a.archived_at.is_some()), membership })
}

pub(super) fn judge(
    unit: &mut Unit<'_>,
    subject: &Subject<'_>,
    known: Known,
    decide: impl Fn(&DecisionInput<'_>) -> Judgement,
) -> Result<(Judgement, Option<Membership>)> {
    let (context, counters) = match subject.address {
        Some(address) => (
            context_of(unit.tx, address, &subject.event.conversation.conversation_id)?,
            counts::take(unit, subject.connection, address, subject.event)?,
        ),
        None => (Context { agent_archived: false, membership: None }, Counters::default()),
    };
    let judgement = decide(&DecisionInput {
        event: subject.event,
        connection: subject.connection,
        address: subject.address,
        agent_archived: context.agent_archived,
        membership: context.membership.as_ref(),
        own_ids: &subject.offer.own_ids,
        known,
        counters,
        now: unit.now,
        limits: subject.offer.limits,
    });
    Ok((judgement, context.membership))
}
