//! Claims items for Turns and records how Turns go (messaging specification 4.1 to 4.5).

mod claim;
mod finish;

use loom_domain::{
    Address, Agent, AgentId, Connection, HandlingAttempt, Membership, Message, Result, Timestamp, Turn,
    TurnId,
    decision::{AgentGate, Limits},
    inbox::{Event as ItemEvent, Item},
    turn::TurnState,
};

use crate::{Act, Store, docs, ops::items, params, records::StoredItem};

pub use finish::{Finished, Reply, TurnEnd};

/// Everything a Turn is started with.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Agent.
    pub agent: Agent,
    /// Item, now `handling`.
    pub item: Item,
    /// Message.
    pub message: Message,
    /// Attempt, `starting`.
    pub attempt: HandlingAttempt,
    /// Turn, `starting`.
    pub turn: Turn,
    /// Address; absent for owner input and internal messages.
    pub address: Option<Address>,
    /// Connection of the Address.
    pub connection: Option<Connection>,
    /// Membership.
    pub membership: Option<Membership>,
    /// An earlier Attempt may have acted.
    pub prior_attempt: bool,
}

/// Who claims.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Agent.
    pub agent_id: AgentId,
    /// Fence of the Agent's lease.
    pub fence: u64,
    /// What stands in the way besides policy.
    pub gate: AgentGate,
    /// Limits from the configuration.
    pub limits: Limits,
}

impl Store {
    /// Claims the next item of an Agent: fair over conversations, FIFO inside. `None` when nothing can start now.
    pub async fn claim_turn(&self, act: Act, claim: Claim) -> Result<Option<Claimed>> {
        self.write(act, move |unit| claim::next(unit, &claim)).await
    }

    /// Agents with queued work that is due, and when the next one becomes due.
    pub async fn ready_agents(&self, now: Timestamp) -> Result<(Vec<AgentId>, Option<Timestamp>)> {
        self.read(move |tx| {
            let due = "SELECT DISTINCT agent_id FROM inbox WHERE open = 1 AND state = 'queued' AND available_at <= ?1 \
                       AND agent_id NOT IN (SELECT agent_id FROM turns WHERE open = 1)";
            let agents = tx.query(due, &params![now])?.iter().map(|row| row.text(0).parse()).collect::<Result<_>>()?;
            let next = "SELECT MIN(available_at) FROM inbox WHERE open = 1 AND state IN ('queued', 'deferred') AND available_at > ?1";
            let at = tx.number(next, &params![now])?;
            Ok((agents, (at > 0).then_some(Timestamp(at))))
        })
        .await
    }

    /// Records that the runtime accepted a Turn.
    pub async fn turn_accepted(
        &self,
        act: Act,
        turn_id: TurnId,
        fence: u64,
        native: Option<String>,
    ) -> Result<()> {
        self.write(act, move |unit| finish::accepted(unit, &turn_id, fence, native.as_deref())).await
    }

    /// Records a tool call of a Turn, before anything else is done with it.
    pub async fn turn_tool_called(&self, act: Act, turn_id: TurnId) -> Result<()> {
        self.write(act, move |unit| {
            let mut turn: Turn = docs::require(unit.tx, turn_id.as_str())?;
            turn.tool_calls = turn.tool_calls.saturating_add(1);
            docs::update(unit.tx, &turn)
        })
        .await
    }

    /// Records the runtime's own thread of an Agent.
    pub async fn bind_thread(
        &self,
        act: Act,
        agent_id: AgentId,
        thread: Option<String>,
        fresh: bool,
    ) -> Result<Agent> {
        self.write(act, move |unit| finish::bind_thread(unit, &agent_id, thread.as_deref(), fresh)).await
    }

    /// Records how a Turn ended, with its reply, in one commit. A Turn that was closed meanwhile stays closed.
    pub async fn finish_turn(&self, act: Act, turn_id: TurnId, fence: u64, end: TurnEnd) -> Result<Finished> {
        self.write(act, move |unit| finish::finish(unit, &turn_id, fence, &end)).await
    }

    /// Turns that are not ended, with their items: what a start or take-over must reconcile.
    pub async fn open_turns(&self) -> Result<Vec<Claimed>> {
        self.read(|tx| {
            let turns: Vec<Turn> = docs::select(tx, "open = 1 ORDER BY seq", &[])?;
            turns.into_iter().map(|turn| claim::load(tx, turn)).collect()
        })
        .await
    }

    /// State of the item of a Turn: whether the Turn should go on.
    pub async fn turn_is_wanted(&self, turn_id: TurnId) -> Result<bool> {
        self.read(move |tx| {
            let Some(turn) = docs::get::<Turn>(tx, turn_id.as_str())? else { return Ok(false) };
            let item: Option<StoredItem> = docs::get(tx, turn.item_id.as_str())?;
            let is_open = matches!(turn.state, TurnState::Starting | TurnState::Running);
            Ok(is_open
                && item.is_some_and(|i| {
                    !matches!(
                        i.item.state,
                        loom_domain::inbox::State::Cancelled | loom_domain::inbox::State::Expired
                    )
                }))
        })
        .await
    }

    /// Returns deferred items that are due to the queue, and ends items and approvals that waited too long.
    /// Gives the number of items that moved.
    pub async fn sweep_inbox(&self, act: Act, queue_age_ms: i64) -> Result<u64> {
        self.write(act, move |unit| {
            let mut moved = 0;
            let now = unit.now;
            let sweeps = [
                ("state = 'deferred' AND open = 1 AND available_at <= ?1", now, ItemEvent::Due),
                (
                    "state = 'queued' AND open = 1 AND created_at < ?1",
                    now.plus_ms(-queue_age_ms),
                    ItemEvent::QueueExpired,
                ),
                (
                    "state = 'pending_access' AND open = 1 AND created_at < ?1",
                    now.plus_ms(-loom_domain::pending::EXPIRY_MS),
                    ItemEvent::AccessExpired,
                ),
            ];
            for (condition, limit, event) in sweeps {
                let due: Vec<StoredItem> =
                    docs::select(unit.tx, &format!("{condition} ORDER BY seq LIMIT 200"), &params![limit])?;
                for mut stored in due {
                    items::step(unit, &mut stored, &event)?;
                    moved += 1;
                }
            }
            Ok(moved)
        })
        .await
    }
}
