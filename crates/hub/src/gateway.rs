//! Gateways: a supervised task per managed Connection that holds its platform session.

pub(crate) mod backoff;
pub(crate) mod catchup;
pub(crate) mod health;
mod ingress;
mod monitor;
mod probe;
mod session;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use loom_domain::{Connection, ConnectionId, connection::GatewayMode};
use loom_store::Topic;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::hub::{Hub, Phase};

pub use probe::ProbeResult;
pub(crate) use session::Holder as SessionHolder;

/// Time between looks at the Connections, behind the wake-ups.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(30);

struct Running {
    version: u64,
    stop: CancellationToken,
    /// Cancelled when the gateway has ended.
    done: CancellationToken,
}

/// Keeps one gateway for each Connection that is managed and enabled, and none for the others.
pub(crate) async fn manage(hub: Hub) {
    let _ = hub.phase().wait_for(|phase| *phase >= Phase::Serving).await;
    let mut changes = hub.store().watch(Topic::Config);
    let mut running: HashMap<ConnectionId, Running> = HashMap::new();
    let mut tasks = JoinSet::new();
    loop {
        match hub.store().all_connections().await {
            Ok(connections) => reconcile(&hub, &connections, &mut running, &mut tasks),
            Err(error) => tracing::warn!("connections cannot be read: {error}"),
        }
        tokio::select! {
            () = hub.inner.stop.cancelled() => break,
            _ = changes.changed() => {}
            Some(_) = tasks.join_next() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
    running.values().for_each(|r| r.stop.cancel());
    while tasks.join_next().await.is_some() {}
}

/// Randomness for the waits between attempts.
fn random(hub: &Hub) -> u64 {
    u64::try_from((hub.inner.parts.entropy)() & u128::from(u64::MAX)).unwrap_or(0)
}

fn is_wanted(connection: &Connection) -> bool {
    connection.enabled && connection.archived_at.is_none() && connection.gateway_mode == GatewayMode::Managed
}

fn reconcile(
    hub: &Hub,
    connections: &[Connection],
    running: &mut HashMap<ConnectionId, Running>,
    tasks: &mut JoinSet<()>,
) {
    let is_known = |id: &ConnectionId| connections.iter().any(|c| c.id == *id);
    running.iter().filter(|(id, _)| !is_known(id)).for_each(|(_, gone)| gone.stop.cancel());
    running.retain(|id, one| is_known(id) || !one.done.is_cancelled());
    for connection in connections {
        hub.inner.board.configure(connection);
        let old = running.get(&connection.id);
        let is_current = old.is_some_and(|r| r.version == connection.version && !r.stop.is_cancelled());
        if is_wanted(connection) && is_current {
            continue;
        }
        let before = old.map(|old| {
            old.stop.cancel();
            old.done.clone()
        });
        if is_wanted(connection) {
            let (stop, done) = (hub.inner.stop.child_token(), CancellationToken::new());
            let new = Running { version: connection.version, stop: stop.clone(), done: done.clone() };
            running.insert(connection.id.clone(), new);
            tasks.spawn(supervise(hub.clone(), connection.clone(), before, stop, done));
        }
    }
}

/// Runs a gateway until it is stopped; a panic is recorded and the gateway started again. It starts when the one
/// before it has ended, so that no two hold the lease by turns.
async fn supervise(
    hub: Hub,
    connection: Connection,
    before: Option<CancellationToken>,
    stop: CancellationToken,
    done: CancellationToken,
) {
    let _done = done.drop_guard();
    if let Some(before) = before {
        before.cancelled().await;
    }
    let connection = Arc::new(connection);
    let mut backoff = backoff::Backoff::default();
    while !stop.is_cancelled() {
        let run = session::run(hub.clone(), connection.clone(), stop.clone());
        if let Err(panic) = std::panic::AssertUnwindSafe(run).catch_unwind().await {
            let why = crate::supervise::panic_text(panic.as_ref());
            hub.inner.board.panicked(&connection.id, &why);
            hub.inner.metrics.task_died("gateway");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(backoff.next(random(&hub))) => {}
        }
    }
    hub.set_channel(&connection.id, None);
    hub.inner.board.stopped(&connection.id);
}
