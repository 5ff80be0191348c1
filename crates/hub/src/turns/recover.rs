//! Turns left open, by a hub that went or a lease that was lost, are reconciled with their runtime, never run again.

use std::collections::HashSet;
use std::time::Duration;

use loom_domain::{AgentId, Principal};
use loom_runtimes::AgentSession;
use loom_store::ops::turns::{Claimed, TurnEnd};
use tokio::task::JoinSet;

use super::{dispatch, run};
use crate::{hub::Hub, lease};

/// Wait before a store, or an Agent's lease, is asked for again.
const RETRY_WAIT: Duration = Duration::from_secs(2);

/// Starts the reconciliation of every open Turn; their Agents are busy until it is done.
pub(super) async fn start(hub: &Hub, working: &mut JoinSet<AgentId>, busy: &mut HashSet<AgentId>) {
    let open = loop {
        match hub.store().open_turns().await {
            Ok(open) => break open,
            Err(error) => {
                tracing::warn!("open Turns cannot be read: {error}");
                tokio::time::sleep(RETRY_WAIT).await;
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

/// Reconciles the open Turns of one Agent until it has none.
pub(super) async fn one(hub: Hub, agent: AgentId) -> AgentId {
    loop {
        match hub.store().open_turns().await {
            Ok(open) => match open.into_iter().find(|claimed| claimed.agent.id == agent) {
                Some(claimed) if !Box::pin(is_reconciled(&hub, &claimed)).await => {}
                _ => return agent,
            },
            Err(error) => tracing::warn!("open Turns cannot be read: {error}"),
        }
        tokio::time::sleep(RETRY_WAIT).await;
    }
}

async fn reconcile(hub: Hub, claimed: Claimed) -> AgentId {
    if Box::pin(is_reconciled(&hub, &claimed)).await {
        return claimed.agent.id;
    }
    one(hub, claimed.agent.id).await
}

/// Asks the runtime what became of a Turn and stores it, under the Agent's lease. Without that it stays open.
async fn is_reconciled(hub: &Hub, claimed: &Claimed) -> bool {
    let name = format!("agent:{}", claimed.agent.id);
    let ttl_ms = hub.config().lease.agent_ttl_ms;
    let fence = loop {
        match hub.store().lease(hub.act(Principal::Hub), name.clone(), ttl_ms, None).await {
            Ok(lease) => break lease.fence,
            Err(_) => tokio::time::sleep(RETRY_WAIT).await,
        }
    };
    let work = async {
        let end = Box::pin(verdict(hub, claimed)).await;
        tracing::info!("{} was left open: {end:?}", claimed.turn.id);
        run::finish(hub, claimed, fence, end).await
    };
    let is_stored = tokio::select! {
        is_stored = work => is_stored,
        () = lease::keep(hub, &name, fence, ttl_ms) => false,
    };
    let _ = hub.store().release_lease(hub.act(Principal::Hub), name, fence).await;
    is_stored
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
