//! After a start: Turns that were open when the hub went are reconciled with their runtime, never run again.

use std::collections::HashSet;

use loom_domain::{AgentId, Principal};
use loom_runtimes::AgentSession;
use loom_store::ops::turns::{Claimed, TurnEnd};
use tokio::task::JoinSet;

use super::{dispatch, run};
use crate::{hub::Hub, lease};

/// Starts the reconciliation of every open Turn; their Agents are busy until it is done.
pub(super) async fn start(hub: &Hub, working: &mut JoinSet<AgentId>, busy: &mut HashSet<AgentId>) {
    let open = loop {
        match hub.store().open_turns().await {
            Ok(open) => break open,
            Err(error) => {
                tracing::warn!("open Turns cannot be read: {error}");
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        }
    };
    hub.inner.runtimes.revoke_earlier_tokens(hub).await;
    for claimed in open {
        let agent = claimed.agent.id.clone();
        busy.insert(agent.clone());
        working.spawn(dispatch::guarded(hub.clone(), agent, reconcile(hub.clone(), claimed)));
    }
}

/// Reconciles the open Turn of one Agent, when it has one.
pub(super) async fn one(hub: Hub, agent: AgentId) -> AgentId {
    match hub.store().open_turns().await {
        Ok(open) => {
            if let Some(claimed) = open.into_iter().find(|claimed| claimed.agent.id == agent) {
                return Box::pin(reconcile(hub, claimed)).await;
            }
        }
        Err(error) => tracing::warn!("open Turns cannot be read: {error}"),
    }
    agent
}

async fn reconcile(hub: Hub, claimed: Claimed) -> AgentId {
    let agent = claimed.agent.id.clone();
    let name = format!("agent:{agent}");
    let ttl_ms = hub.config().lease.agent_ttl_ms;
    let fence = loop {
        match hub.store().lease(hub.act(Principal::Hub), name.clone(), ttl_ms, None).await {
            Ok(lease) => break lease.fence,
            Err(_) => tokio::time::sleep(std::time::Duration::from_secs(2)).await,
        }
    };
    let work = async {
        let end = Box::pin(verdict(&hub, &claimed)).await;
        tracing::info!("{} was open at the start: {end:?}", claimed.turn.id);
        run::finish(&hub, &claimed, fence, end).await;
    };
    tokio::select! {
        () = work => {}
        () = lease::keep(&hub, &name, fence, ttl_ms) => {}
    }
    let _ = hub.store().release_lease(hub.act(Principal::Hub), name, fence).await;
    agent
}

async fn verdict(hub: &Hub, claimed: &Claimed) -> TurnEnd {
    let mut silence = run::Silence::default();
    let session: Box<dyn AgentSession> = loop {
        match run::open(hub, claimed).await {
            Ok(session) => break session,
            Err(error) => {
                let verdict = silence.verdict(claimed, &error);
                if let Some(end) = run::end_of(claimed, verdict) {
                    return end;
                }
            }
        }
        silence.wait().await;
    };
    let end = Box::pin(run::settle(hub, claimed, session.as_ref())).await;
    let _ = session.close().await;
    end
}
