//! Starts Turns: one per Agent at a time, woken by commits, with a slow look behind.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use loom_domain::{
    AgentId, Code, Principal,
    decision::{AgentGate, Limits},
};
use loom_store::{Topic, ops::turns::Claim};
use tokio::task::JoinSet;

use super::{recover, run};
use crate::{hub::Hub, lease, supervise::panic_text};

const SAFETY_POLL: Duration = Duration::from_secs(5);
/// Wait before an Agent whose lease another node holds is asked for again.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// Runs Turns until the hub stops.
pub(crate) async fn run(hub: Hub) {
    let mut wakes = hub.store().watch(Topic::Inbox);
    let mut working: JoinSet<AgentId> = JoinSet::new();
    let mut busy: HashSet<AgentId> = HashSet::new();
    recover::start(&hub, &mut working, &mut busy).await;
    loop {
        wakes.borrow_and_update();
        let wait = start_ready(&hub, &mut working, &mut busy).await;
        tokio::select! {
            () = hub.inner.stop.cancelled() => break,
            changed = wakes.changed() => if changed.is_err() { break },
            Some(done) = working.join_next() => {
                if let Ok(agent) = done {
                    busy.remove(&agent);
                }
            }
            () = tokio::time::sleep(wait) => {}
        }
    }
    working.shutdown().await;
}

async fn start_ready(hub: &Hub, working: &mut JoinSet<AgentId>, busy: &mut HashSet<AgentId>) -> Duration {
    if hub.inner.drain.is_cancelled() {
        return SAFETY_POLL;
    }
    let now = hub.now();
    let (ready, next) = match hub.store().ready_agents(now).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!("the queue cannot be read: {error}");
            return SAFETY_POLL;
        }
    };
    for agent in ready {
        if busy.contains(&agent) {
            continue;
        }
        busy.insert(agent.clone());
        working.spawn(guarded(hub.clone(), agent.clone(), serve(hub.clone(), agent)));
    }
    let until =
        next.map_or(SAFETY_POLL, |at| Duration::from_millis(u64::try_from(at.since_ms(now)).unwrap_or(0)));
    until.clamp(Duration::from_millis(20), SAFETY_POLL)
}

/// Runs the work of an Agent. After a panic the Turn that was open is reconciled, and other Agents go on.
pub(crate) async fn guarded(hub: Hub, agent: AgentId, work: impl Future<Output = AgentId>) -> AgentId {
    let Err(panic) = AssertUnwindSafe(work).catch_unwind().await else { return agent };
    hub.inner.metrics.task_died("turn");
    tracing::error!("the work of {agent} panicked: {}", panic_text(panic.as_ref()));
    let recovery = recover::one(hub, agent.clone());
    if AssertUnwindSafe(recovery).catch_unwind().await.is_err() {
        tracing::error!("the open Turn of {agent} is left to the next start");
    }
    agent
}

/// Serves an Agent until its queue has nothing that can start now.
async fn serve(hub: Hub, agent: AgentId) -> AgentId {
    let name = format!("agent:{agent}");
    let ttl_ms = hub.config().lease.agent_ttl_ms;
    let fence = match hub.store().lease(hub.act(Principal::Hub), name.clone(), ttl_ms, None).await {
        Ok(lease) => lease.fence,
        Err(error) => {
            if error.code != Code::Locked {
                tracing::warn!("the lease {name} cannot be taken: {error}");
            }
            tokio::time::sleep(LEASE_WAIT).await;
            return agent;
        }
    };
    let work = serve_leased(&hub, &agent, fence);
    let renew = lease::keep(&hub, &name, fence, ttl_ms);
    let is_settled = tokio::select! {
        is_settled = work => is_settled,
        () = renew => {
            tracing::warn!("the lease {name} was lost; its Turn is reconciled");
            false
        }
    };
    let _ = hub.store().release_lease(hub.act(Principal::Hub), name, fence).await;
    if is_settled { agent } else { recover::one(hub, agent).await }
}

/// Runs one Turn after the other; whether the end of each was stored.
async fn serve_leased(hub: &Hub, agent: &AgentId, fence: u64) -> bool {
    while !hub.inner.drain.is_cancelled() {
        let claim =
            Claim { agent_id: agent.clone(), fence, gate: AgentGate::default(), limits: Limits::default() };
        match hub.store().claim_turn(hub.act(Principal::Hub), claim).await {
            Ok(Some(claimed)) => {
                if !Box::pin(run::turn(hub, claimed, fence)).await {
                    return false;
                }
            }
            Ok(None) => return true,
            Err(error) => {
                tracing::warn!("an item of {agent} cannot be claimed: {error}");
                return true;
            }
        }
    }
    true
}

/// Waits until no Turn and no Part is in flight on this node.
pub(crate) async fn idle(hub: &Hub) {
    let mut wakes = hub.store().watch(Topic::Feed);
    loop {
        wakes.borrow_and_update();
        if hub.store().in_flight().await.is_ok_and(|count| count == 0) {
            return;
        }
        tokio::select! {
            _ = wakes.changed() => {}
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
    }
}
