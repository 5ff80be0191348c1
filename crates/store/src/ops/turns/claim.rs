//! Takes the next item of an Agent, in one commit, before any call to the runtime.

use loom_domain::{
    Address, Agent, AttemptId, Connection, HandlingAttempt, Membership, Message, Result, Turn, TurnId,
    decision::{
        Counters, DecisionInput, Known, Recheck, effective_reply_policy, recheck, recheck_without_address,
    },
    inbox::{Event as ItemEvent, State},
    trust::turn_labels,
    turn::{AttemptStatus, TurnState},
};

use super::{Claim, Claimed};
use crate::{
    Tx, Unit, docs,
    ops::{inbound, items, leases},
    params,
    records::StoredItem,
};

/// Items looked at in one claim before giving way to other work.
const TRIES_MAX: usize = 64;

pub(super) fn next(unit: &mut Unit<'_>, claim: &Claim) -> Result<Option<Claimed>> {
    leases::check(unit.tx, &format!("agent:{}", claim.agent_id), claim.fence)?;
    let open = "SELECT 1 FROM turns WHERE agent_id = ?1 AND open = 1";
    if unit.tx.first(open, &params![claim.agent_id.as_str()])?.is_some() {
        return Ok(None);
    }
    let agent: Agent = docs::require(unit.tx, claim.agent_id.as_str())?;
    let mut skipped = Vec::new();
    for _ in 0..TRIES_MAX {
        let Some(mut stored) = head(unit, claim, &skipped)? else { return Ok(None) };
        let subject = Subject::load(unit.tx, &stored)?;
        let check = check(&agent, &subject, &stored, claim, unit);
        items::step(unit, &mut stored, &ItemEvent::Claim(check))?;
        if stored.item.state == State::Handling {
            return begin(unit, claim, agent, stored, subject).map(Some);
        }
        if stored.item.state == State::Queued {
            skipped.push(stored.item.queue_key.clone());
        }
    }
    Ok(None)
}

/// The head of the queue key whose turn it is.
fn head(unit: &mut Unit<'_>, claim: &Claim, skipped: &[String]) -> Result<Option<StoredItem>> {
    let rows = unit.tx.query(
        "SELECT queue_key, MIN(seq) FROM inbox WHERE agent_id = ?1 AND state = 'queued' AND open = 1 AND available_at <= ?2 GROUP BY queue_key",
        &params![claim.agent_id.as_str(), unit.now],
    )?;
    let heads: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (row.text(0).to_owned(), row.uint(1)))
        .filter(|(key, _)| !skipped.contains(key))
        .collect();
    let Some(seq) = super::super::fairness::pick(unit, claim.agent_id.as_str(), &heads)? else {
        return Ok(None);
    };
    docs::find(unit.tx, "agent_id = ?1 AND seq = ?2", &params![claim.agent_id.as_str(), seq])
}

/// What an item is checked and started with.
struct Subject {
    message: Message,
    address: Option<Address>,
    connection: Option<Connection>,
    membership: Option<Membership>,
}

impl Subject {
    fn load(tx: &mut dyn Tx, stored: &StoredItem) -> Result<Subject> {
        let message: Message = docs::require(tx, stored.item.message_id.as_str())?;
        let address: Option<Address> = match &stored.item.address_id {
            Some(id) => docs::get(tx, id.as_str())?,
            None => None,
        };
        let connection = match &address {
            Some(address) => docs::get(tx, address.connection_id.as_str())?,
            None => None,
        };
        let membership = match &address {
            Some(address) => {
                inbound::context_of(tx, address, &message.conversation.conversation_id)?.membership
            }
            None => None,
        };
        Ok(Subject { message, address, connection, membership })
    }
}

fn check(agent: &Agent, subject: &Subject, stored: &StoredItem, claim: &Claim, unit: &Unit<'_>) -> Recheck {
    let mut gate = claim.gate;
    gate.paused |= agent.paused;
    let archived = agent.archived_at.is_some();
    let (Some(address), Some(connection)) = (&subject.address, &subject.connection) else {
        return recheck_without_address(archived, gate);
    };
    let event = inbound::event_of(&subject.message);
    let input = DecisionInput {
        event: &event,
        connection,
        address: Some(address),
        agent_archived: archived,
        membership: subject.membership.as_ref(),
        own_ids: &[],
        known: Known::New,
        counters: Counters::default(),
        now: unit.now,
        limits: claim.limits,
    };
    debug_assert_eq!(stored.item.message_id, subject.message.id);
    recheck(&input, subject.message.evidence, gate)
}

fn begin(
    unit: &mut Unit<'_>,
    claim: &Claim,
    agent: Agent,
    mut stored: StoredItem,
    subject: Subject,
) -> Result<Claimed> {
    let turn_id = TurnId::new(unit.now.0, unit.random());
    let policy = match &subject.address {
        Some(address) => {
            effective_reply_policy(address, subject.membership.as_ref(), subject.message.response_expectation)
        }
        None => loom_domain::ReplyPolicy::None,
    };
    let tries = unit.tx.number(
        "SELECT COUNT(*) FROM attempts WHERE inbox_item_id = ?1",
        &params![stored.item.id.as_str()],
    )?;
    let attempt = HandlingAttempt {
        id: AttemptId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        inbox_item_id: stored.item.id.clone(),
        turn_id: turn_id.clone(),
        n: u32::try_from(tries).unwrap_or(u32::MAX).saturating_add(1),
        membership_id: subject.membership.as_ref().map(|m| m.id.clone()),
        membership_version: subject.membership.as_ref().map(|m| m.version),
        effective_reply_policy: policy,
        status: AttemptStatus::Starting,
        answer: None,
        error: None,
        fence: claim.fence,
        started_at: unit.now,
        ended_at: None,
    };
    let domain = subject.address.as_ref().map(|a| a.trust_domain.as_str());
    let labels = turn_labels(&agent.thread_labels, domain, &[]).into_iter().map(str::to_owned).collect();
    let turn = Turn {
        id: turn_id.clone(),
        seq: unit.seq()?,
        agent_id: agent.id.clone(),
        item_id: stored.item.id.clone(),
        generation: agent.thread_generation,
        native_turn: None,
        state: TurnState::Starting,
        labels,
        deadline_at: unit
            .now
            .plus_ms(i64::try_from(agent.max_turn_seconds).unwrap_or(i64::MAX).saturating_mul(1_000)),
        usage: serde_json::Value::Null,
        tool_calls: 0,
        answer: None,
        node: unit.node.to_owned(),
        created_at: unit.now,
        ended_at: None,
    };
    docs::insert(unit.tx, &attempt)?;
    docs::insert(unit.tx, &turn)?;
    stored.item.active_attempt_id = Some(attempt.id.clone());
    stored.item.turn_id = Some(turn_id);
    docs::update(unit.tx, &stored)?;
    super::super::fairness::mark_served(unit, agent.id.as_str(), &stored.item.queue_key)?;
    unit.change("turn.changed", turn.id.as_str(), Some(agent.id.as_str()), 1, &["state"])?;
    let prior_attempt = has_prior(unit.tx, &stored, &attempt)?;
    Ok(Claimed {
        agent,
        item: stored.item,
        message: subject.message,
        attempt,
        turn,
        address: subject.address,
        connection: subject.connection,
        membership: subject.membership,
        prior_attempt,
    })
}

/// Whether an earlier Attempt of the item may have acted.
fn has_prior(tx: &mut dyn Tx, stored: &StoredItem, attempt: &HandlingAttempt) -> Result<bool> {
    let earlier: Vec<HandlingAttempt> =
        docs::select(tx, "inbox_item_id = ?1 ORDER BY seq", &params![stored.item.id.as_str()])?;
    Ok(earlier.iter().any(|a| a.id != attempt.id && a.status != AttemptStatus::NotStarted))
}

/// Loads an open Turn with all it was started with.
pub(super) fn load(tx: &mut dyn Tx, turn: Turn) -> Result<Claimed> {
    let agent: Agent = docs::require(tx, turn.agent_id.as_str())?;
    let stored: StoredItem = docs::require(tx, turn.item_id.as_str())?;
    let subject = Subject::load(tx, &stored)?;
    let attempt: HandlingAttempt = docs::find(tx, "turn_id = ?1", &params![turn.id.as_str()])?
        .ok_or_else(|| loom_domain::Error::not_found("attempt of turn", turn.id.as_str()))?;
    let prior_attempt = has_prior(tx, &stored, &attempt)?;
    Ok(Claimed {
        agent,
        item: stored.item,
        message: subject.message,
        attempt,
        turn,
        address: subject.address,
        connection: subject.connection,
        membership: subject.membership,
        prior_attempt,
    })
}
