//! Gateways: a supervised task per managed Connection that holds its platform session.

pub(crate) mod backoff;
mod catchup;
pub mod health;
mod ingress;
mod monitor;
mod probe;
mod session;

use std::collections::HashMap;
use std::sync::Arc;

use loom_domain::{Connection, ConnectionId, Principal, connection::GatewayMode};
use loom_store::Topic;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;

pub use probe::ProbeResult;
pub(crate) use session::{Holder as SessionHolder, credential_kind};

struct Running {
    version: u64,
    stop: CancellationToken,
}

/// Keeps one gateway for each Connection that is managed and enabled, and none for the others.
pub(crate) async fn manage(hub: Hub) {
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
            () = tokio::time::sleep(std::time::Duration::from_secs(30)) => {}
        }
    }
    running.values().for_each(|r| r.stop.cancel());
    while tasks.join_next().await.is_some() {}
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
    for connection in connections {
        hub.inner.board.configure(connection);
        let is_current = running.get(&connection.id).is_some_and(|r| r.version == connection.version);
        if is_wanted(connection) && is_current {
            continue;
        }
        if let Some(old) = running.remove(&connection.id) {
            old.stop.cancel();
        }
        if is_wanted(connection) {
            let stop = hub.inner.stop.child_token();
            running
                .insert(connection.id.clone(), Running { version: connection.version, stop: stop.clone() });
            tasks.spawn(supervise(hub.clone(), connection.clone(), stop));
        }
    }
}

/// Runs a gateway until it is stopped; a panic is recorded and the gateway started again.
async fn supervise(hub: Hub, connection: Connection, stop: CancellationToken) {
    use futures_util::FutureExt as _;
    let connection = Arc::new(connection);
    let mut backoff = backoff::Backoff::default();
    while !stop.is_cancelled() {
        let run = session::run(hub.clone(), connection.clone(), stop.clone());
        if let Err(panic) = std::panic::AssertUnwindSafe(run).catch_unwind().await {
            let why = crate::supervise::panic_text(panic.as_ref());
            hub.inner.board.panicked(&connection.id, &why);
            hub.inner.metrics.task_died("gateway");
        }
        let random = u64::try_from((hub.inner.parts.entropy)() & u128::from(u64::MAX)).unwrap_or(0);
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(backoff.next(random)) => {}
        }
    }
    hub.set_channel(&connection.id, None);
    hub.inner.board.stopped(&connection.id);
    let _ = Principal::Hub;
}
