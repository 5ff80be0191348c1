//! Agents as lists and details show them.

use loom_api::{
    query,
    view::{AgentDetail, AgentEntry, CurrentTurn, MembershipTotals, QueueTotals, Relationship},
};
use loom_domain::{Address, Agent, Result, Timestamp, Turn, agent::AgentState};

use crate::{
    Store, Tx, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
    params,
};

const ATTENTION: &str = "SELECT 1 FROM inbox WHERE agent_id = ?1 AND open = 1 \
     AND state IN ('needs_decision', 'interrupted', 'failed') LIMIT 1";

impl Store {
    /// An Agent by name or id.
    pub async fn agent_by(&self, name_or_id: String) -> Result<Agent> {
        self.read(move |tx| lookup::agent(tx, &name_or_id)).await
    }

    /// A page of Agents, newest first.
    pub async fn list_agents(
        &self,
        query: query::Agents,
        now: Timestamp,
    ) -> Result<loom_api::Page<AgentEntry>> {
        self.read(move |tx| {
            let wanted: Option<AgentState> = query.state.as_deref().map(str::parse).transpose()?;
            let mut filter = Filter::default();
            if !query.all.unwrap_or(false) && wanted != Some(AgentState::Archived) {
                filter.plain("archived = 0");
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page_where(
                tx,
                &paging,
                |agent: &Agent| agent.seq,
                |tx, agent| Ok(wanted.is_none() || wanted == Some(state(tx, agent)?)),
            )?;
            lookup::map_page(page, |agent| entry(tx, agent, now))
        })
        .await
    }

    /// An Agent with everything around it.
    pub async fn agent_detail(&self, name_or_id: String, now: Timestamp) -> Result<AgentDetail> {
        self.read(move |tx| {
            let agent = lookup::agent(tx, &name_or_id)?;
            detail(tx, agent, now)
        })
        .await
    }
}

fn current(tx: &mut dyn Tx, agent: &Agent) -> Result<Option<CurrentTurn>> {
    let turn: Option<Turn> = docs::find(tx, "agent_id = ?1 AND open = 1", &params![agent.id.as_str()])?;
    Ok(turn.map(|turn| CurrentTurn { id: turn.id, item_id: turn.item_id, started_at: turn.created_at }))
}

fn state(tx: &mut dyn Tx, agent: &Agent) -> Result<AgentState> {
    if agent.archived_at.is_some() {
        return Ok(AgentState::Archived);
    }
    if current(tx, agent)?.is_some() {
        return Ok(AgentState::Running);
    }
    if agent.paused {
        return Ok(AgentState::Paused);
    }
    let needs = tx.first(ATTENTION, &params![agent.id.as_str()])?.is_some();
    Ok(if needs { AgentState::NeedsAttention } else { AgentState::Idle })
}

/// Seconds since the oldest row of an aggregate; none when there is no row.
pub(crate) fn age_seconds(now: Timestamp, oldest_ms: i64) -> Option<u64> {
    (oldest_ms > 0).then(|| u64::try_from(now.since_ms(Timestamp(oldest_ms)) / 1_000).unwrap_or(0))
}

fn entry(tx: &mut dyn Tx, agent: Agent, now: Timestamp) -> Result<AgentEntry> {
    let id = agent.id.to_string();
    let addresses = "SELECT COUNT(*) FROM addresses WHERE agent_id = ?1 AND archived = 0 AND deleted = 0";
    let queue = queue(tx, &id, now)?;
    Ok(AgentEntry {
        state: state(tx, &agent)?,
        address_count: u64::try_from(tx.number(addresses, &params![id.as_str()])?).unwrap_or(0),
        queued: queue.queued,
        oldest_seconds: queue.oldest_seconds,
        current_turn: current(tx, &agent)?,
        agent,
    })
}

fn queue(tx: &mut dyn Tx, agent: &str, now: Timestamp) -> Result<QueueTotals> {
    let sql =
        "SELECT state, COUNT(*), MIN(created_at) FROM inbox WHERE agent_id = ?1 AND open = 1 GROUP BY state";
    let mut totals = QueueTotals::default();
    for row in tx.query(sql, &params![agent])? {
        match row.text(0) {
            "queued" => {
                totals.queued = row.uint(1);
                totals.oldest_seconds = age_seconds(now, row.int(2));
            }
            "pending_access" => totals.pending_access = row.uint(1),
            "needs_decision" => totals.needs_decision = row.uint(1),
            _ => {}
        }
    }
    Ok(totals)
}

fn detail(tx: &mut dyn Tx, agent: Agent, now: Timestamp) -> Result<AgentDetail> {
    let id = agent.id.to_string();
    let addresses: Vec<Address> =
        docs::select(tx, "agent_id = ?1 AND deleted = 0 ORDER BY archived, seq", &params![id.as_str()])?;
    let totals = tx.first(
        "SELECT COUNT(*), CAST(COALESCE(SUM(m.enabled), 0) AS BIGINT) FROM memberships m JOIN addresses a ON a.id = m.address_id \
         WHERE a.agent_id = ?1 AND a.deleted = 0 AND m.archived = 0",
        &params![id.as_str()],
    )?;
    let memberships = totals.map_or_else(MembershipTotals::default, |row| MembershipTotals {
        total: row.uint(0),
        enabled: row.uint(1),
    });
    Ok(AgentDetail {
        state: state(tx, &agent)?,
        addresses,
        memberships,
        queue: queue(tx, &id, now)?,
        current_turn: current(tx, &agent)?,
        relationships: relationships(tx, &id)?,
        agent,
    })
}

/// Agents with open internal messages to or from this one.
fn relationships(tx: &mut dyn Tx, agent: &str) -> Result<Vec<Relationship>> {
    let sql = "SELECT a.doc, COUNT(*) FROM inbox i JOIN agents a \
         ON (a.id = i.sender_id AND i.agent_id = ?1) OR (a.id = i.agent_id AND i.sender_id = ?1) \
         WHERE i.origin = 'loom' AND i.open = 1 AND (i.agent_id = ?1 OR i.sender_id = ?1) GROUP BY a.id, a.doc";
    tx.query(sql, &params![agent])?
        .iter()
        .map(|row| Ok(Relationship { agent: row.doc::<Agent>(0)?.name, open: row.uint(1) }))
        .collect()
}
