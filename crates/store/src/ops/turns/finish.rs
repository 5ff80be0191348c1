//! Records how a Turn goes and ends. The end and its reply are one commit.

use loom_domain::{
    Agent, AgentId, Code, Error, HandlingAttempt, OutboxId, Result, Turn, TurnId,
    inbox::{Answer, Effect, Event as ItemEvent, Item, StartFailure, State},
    turn::{AttemptStatus, ClassedError, TurnState},
};
use serde_json::json;

use crate::{
    Audit, Unit, docs,
    ops::{items, items::attempt_of, leases, outbox},
    records::StoredItem,
};

/// A reply as the hub prepared it: cut into chunks that fit the platform, files in the store.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// What to send.
    pub draft: outbox::Draft,
}

/// How a Turn ended.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one value for each Turn, moved once")]
pub enum TurnEnd {
    /// The runtime was not reached, or refused to start.
    NotStarted {
        /// How.
        failure: StartFailure,
        /// Error.
        error: ClassedError,
    },
    /// The start may or may not have been accepted; reconcile.
    Indeterminate {
        /// Error.
        error: ClassedError,
    },
    /// The runtime has no trace of it.
    NeverAccepted,
    /// It runs; the hub attached to it again.
    Reattached,
    /// Ended well.
    Completed {
        /// The final answer as the runtime gave it, for the record.
        answer: Option<String>,
        /// The answer as it will be sent; `None` when nothing is left of it.
        reply: Option<Reply>,
        /// Why the answer cannot be sent at all (it could not be cut, for example).
        refused: Option<Error>,
        /// Usage as the runtime told it.
        usage: serde_json::Value,
    },
    /// Ended with an error.
    Failed {
        /// Whether the same Turn may succeed later.
        retryable: bool,
        /// Error.
        error: ClassedError,
    },
    /// Ran out of time.
    TimedOut,
    /// Its fate is not known.
    FateUnknown {
        /// Whether the owner allowed a re-run and nothing was done yet.
        may_rerun: bool,
    },
}

/// What a Turn's end came to.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The item now.
    pub item: Item,
    /// The reply that was stored.
    pub outbox_id: Option<OutboxId>,
}

/// Records that the runtime accepted a Turn.
pub(super) fn accepted(
    unit: &mut Unit<'_>,
    turn_id: &TurnId,
    fence: u64,
    native: Option<&str>,
) -> Result<()> {
    let mut turn: Turn = docs::require_locked(unit.tx, turn_id.as_str())?;
    leases::check(unit.tx, &format!("agent:{}", turn.agent_id), fence)?;
    if turn.state != TurnState::Starting {
        return Ok(());
    }
    turn.state = TurnState::Running;
    turn.native_turn = native.map(str::to_owned);
    docs::update(unit.tx, &turn)?;
    let mut attempt = attempt_of(unit, turn_id)?;
    attempt.status = AttemptStatus::Running;
    docs::update(unit.tx, &attempt)?;
    let mut agent: Agent = docs::require(unit.tx, turn.agent_id.as_str())?;
    if turn.labels.iter().any(|label| !agent.thread_labels.contains(label)) {
        agent.thread_labels.extend(
            turn.labels.iter().filter(|l| !agent.thread_labels.contains(l)).cloned().collect::<Vec<_>>(),
        );
        agent.thread_labels.sort();
        agent.updated_at = unit.now;
        docs::update(unit.tx, &agent)?;
    }
    unit.change("turn.changed", turn_id.as_str(), Some(turn.agent_id.as_str()), 0, &["state"])
}

/// Records the runtime's own thread. A fresh one after a loss starts a new generation.
pub(super) fn bind_thread(
    unit: &mut Unit<'_>,
    id: &AgentId,
    thread: Option<&str>,
    fresh: bool,
) -> Result<Agent> {
    let mut agent: Agent = docs::require_locked(unit.tx, id.as_str())?;
    if agent.thread_ref.as_deref() == thread && !fresh {
        return Ok(agent);
    }
    let before = agent.thread_ref.clone();
    agent.thread_ref = thread.map(str::to_owned);
    if fresh {
        agent.thread_generation += 1;
    }
    agent.version += 1;
    agent.updated_at = unit.now;
    docs::update(unit.tx, &agent)?;
    unit.audit(&Audit {
        action: "agent.thread",
        object: id.as_str(),
        versions: (Some(agent.version - 1), Some(agent.version)),
        outcome: "ok",
        detail: json!({"had_thread": before.is_some(), "generation": agent.thread_generation}),
    })?;
    Ok(agent)
}

/// Records the end of a Turn. What was decided inside the Turn stands; a closed Turn stays closed.
pub(super) fn finish(unit: &mut Unit<'_>, turn_id: &TurnId, fence: u64, end: &TurnEnd) -> Result<Finished> {
    let turn: Turn = docs::require_locked(unit.tx, turn_id.as_str())?;
    leases::check(unit.tx, &format!("agent:{}", turn.agent_id), fence)?;
    let mut stored: StoredItem = docs::require_locked(unit.tx, turn.item_id.as_str())?;
    if !matches!(turn.state, TurnState::Starting | TurnState::Running) {
        return Ok(Finished { item: stored.item, outbox_id: None });
    }
    let mut attempt = attempt_of(unit, turn_id)?;
    keep_evidence(unit, &turn, &mut attempt, end)?;
    if stored.item.turn_id.as_ref() != Some(turn_id) || stored.item.state.is_final() {
        close_only(unit, turn, attempt, end)?;
        return Ok(Finished { item: stored.item, outbox_id: None });
    }
    let (event, admitted) = event_of(unit, &stored, &attempt, &turn, end)?;
    let next = items::advance(unit, &mut stored, &event)?;
    let mut outbox_id = None;
    if next.effects.contains(&Effect::CreateOutbox)
        && let Some(admitted) = admitted
    {
        let supersede = next.effects.contains(&Effect::SupersedeReply);
        outbox_id = Some(outbox::create_reply(unit, &mut stored, &admitted, supersede)?);
    }
    crate::fail::point("turn.finish.before_commit")?;
    Ok(Finished { item: stored.item, outbox_id })
}

fn keep_evidence(
    unit: &mut Unit<'_>,
    turn: &Turn,
    attempt: &mut HandlingAttempt,
    end: &TurnEnd,
) -> Result<()> {
    let mut turn = turn.clone();
    match end {
        TurnEnd::Completed { answer, usage, .. } => {
            attempt.answer.clone_from(answer);
            turn.answer.clone_from(answer);
            turn.usage = usage.clone();
            docs::update(unit.tx, &turn)?;
        }
        TurnEnd::Failed { error, .. }
        | TurnEnd::NotStarted { error, .. }
        | TurnEnd::Indeterminate { error } => {
            attempt.error = Some(error.clone());
        }
        TurnEnd::NeverAccepted | TurnEnd::Reattached | TurnEnd::TimedOut | TurnEnd::FateUnknown { .. } => {}
    }
    docs::update(unit.tx, attempt)
}

/// Ends the Turn of an item that went on without it.
fn close_only(
    unit: &mut Unit<'_>,
    mut turn: Turn,
    mut attempt: HandlingAttempt,
    end: &TurnEnd,
) -> Result<()> {
    if matches!(end, TurnEnd::Reattached | TurnEnd::Indeterminate { .. }) {
        return Ok(());
    }
    let is_completed = matches!(end, TurnEnd::Completed { .. });
    (turn.state, attempt.status) = if is_completed {
        (TurnState::Completed, AttemptStatus::Completed)
    } else {
        (TurnState::Interrupted, AttemptStatus::Interrupted)
    };
    (turn.ended_at, attempt.ended_at) = (Some(unit.now), Some(unit.now));
    docs::update(unit.tx, &attempt)?;
    docs::update(unit.tx, &turn)?;
    unit.wake(crate::Topic::Inbox);
    unit.change("turn.changed", turn.id.as_str(), Some(turn.agent_id.as_str()), 0, &["state"])
}

fn event_of(
    unit: &mut Unit<'_>,
    stored: &StoredItem,
    attempt: &HandlingAttempt,
    turn: &Turn,
    end: &TurnEnd,
) -> Result<(ItemEvent, Option<outbox::Admitted>)> {
    let event = match end {
        TurnEnd::NotStarted { failure, .. } => ItemEvent::StartFailed(*failure),
        TurnEnd::Indeterminate { .. } => ItemEvent::StartIndeterminate,
        TurnEnd::NeverAccepted => ItemEvent::NeverAccepted,
        TurnEnd::Reattached => ItemEvent::Reattached,
        TurnEnd::Failed { retryable, .. } => {
            ItemEvent::TurnFailed { retryable: *retryable, tool_called: turn.tool_calls > 0 }
        }
        TurnEnd::TimedOut => ItemEvent::TurnTimeout,
        TurnEnd::FateUnknown { may_rerun } => {
            ItemEvent::FateUnknown { may_rerun: *may_rerun && turn.tool_calls == 0 }
        }
        TurnEnd::Completed { reply, refused, .. } => {
            let policy = attempt.effective_reply_policy;
            let (answer, admitted) = match (reply, refused) {
                _ if stored.item.state != State::Handling => (Answer::Empty, None),
                (_, Some(error)) => (Answer::Refused(error.code), None),
                (None, None) => (Answer::Empty, None),
                (Some(reply), None) => {
                    match outbox::admit_reply(unit, stored, attempt, &reply.draft, &turn.labels) {
                        Ok(admitted) => (Answer::Admitted, Some(admitted)),
                        Err(error) if is_refusal(error.code) => (Answer::Refused(error.code), None),
                        Err(error) => return Err(error),
                    }
                }
            };
            return Ok((ItemEvent::TurnCompleted { policy, answer }, admitted));
        }
    };
    Ok((event, None))
}

/// Whether admission refused, rather than the store failed.
fn is_refusal(code: Code) -> bool {
    !matches!(code, Code::HubReadOnly | Code::StoreCorrupt | Code::Internal | Code::LeaseLost)
}
