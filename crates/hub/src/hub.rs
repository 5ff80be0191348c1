//! The handle of the hub: starts the tasks in order, and stops them by draining.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loom_channels::Channel;
use loom_domain::{Connection, ConnectionId, Principal, Result, Timestamp};
use loom_secrets::{Fields, Redactor, Resolver};
use loom_store::{Act, Entropy, Store};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    calls::Lent,
    clock::Clock,
    config::Config,
    feed::Feed,
    gateway::{self, health::Board},
    home::Home,
    metrics::Metrics,
    schedules,
    shares::Shares,
    supervise::Supervisor,
    sweep, turns, webhooks,
};

/// Makes the channel of a Connection from its resolved credential.
pub type MakeChannel = Arc<dyn Fn(&Connection, &Fields) -> Result<Arc<dyn Channel>> + Send + Sync>;

/// What a hub is made of.
#[derive(Clone)]
pub struct Parts {
    /// Configuration.
    pub config: Config,
    /// Data directory.
    pub home: Home,
    /// Store.
    pub store: Store,
    /// Wall clock.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Entropy,
    /// Credentials.
    pub resolver: Arc<Resolver>,
    /// The redactor in front of every sink.
    pub redactor: Redactor,
    /// Makes channels.
    pub make_channel: MakeChannel,
    /// What runs of capabilities are lent.
    pub lent: Lent,
    /// Path of the hub's socket, given to runtimes.
    pub socket: std::path::PathBuf,
}

/// How far the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The store is open, recovery runs.
    Starting,
    /// Everything runs.
    Serving,
    /// No new work is taken.
    Draining,
    /// Everything has ended.
    Stopped,
}

/// A running hub. Cheap to clone.
#[derive(Clone)]
pub struct Hub {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) phase: watch::Sender<Phase>,
    /// No new Turn or Part is started.
    pub(crate) drain: CancellationToken,
    /// Sessions end.
    pub(crate) stop: CancellationToken,
    pub(crate) board: Board,
    pub(crate) channels: Mutex<HashMap<ConnectionId, Arc<dyn Channel>>>,
    pub(crate) runtimes: turns::runtimes::Registry,
    pub(crate) marks: turns::marks::Marks,
    pub(crate) feed: Feed,
    pub(crate) metrics: Metrics,
    pub(crate) tasks: Supervisor,
    pub(crate) capability: crate::capability::Desk,
    pub(crate) reports: crate::multi_agent::Reports,
    pub(crate) loops: crate::multi_agent::Live,
    pub(crate) runs: Arc<crate::calls::Places>,
    pub(crate) uploads: Arc<Shares<Principal>>,
    /// Read by who stores a file with its record, written by who removes both.
    pub(crate) storing: tokio::sync::RwLock<()>,
    /// Attempts of an earlier life were looked at before the first new one begins.
    pub(crate) gates_recovered: tokio::sync::OnceCell<()>,
    stop_requests: mpsc::Sender<Option<Duration>>,
    stop_waiter: Mutex<Option<mpsc::Receiver<Option<Duration>>>>,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hub({:?})", *self.inner.phase.borrow())
    }
}

impl Hub {
    /// Starts the tasks: queue first, then gateways. No network call is made before this returns.
    pub fn start(parts: Parts) -> Hub {
        let (stop_requests, stop_waiter) = mpsc::channel(1);
        let inner = Inner {
            feed: Feed::new(parts.store.clone()),
            board: Board::new(parts.clock.clone()),
            runtimes: turns::runtimes::Registry::new(&parts),
            marks: turns::marks::Marks::default(),
            metrics: Metrics::new(),
            parts,
            phase: watch::Sender::new(Phase::Starting),
            drain: CancellationToken::new(),
            stop: CancellationToken::new(),
            channels: Mutex::default(),
            tasks: Supervisor::default(),
            capability: crate::capability::Desk::default(),
            reports: crate::multi_agent::Reports::default(),
            loops: crate::multi_agent::Live::default(),
            runs: Arc::default(),
            uploads: Arc::default(),
            storing: tokio::sync::RwLock::default(),
            gates_recovered: tokio::sync::OnceCell::new(),
            stop_requests,
            stop_waiter: Mutex::new(Some(stop_waiter)),
        };
        let hub = Hub { inner: Arc::new(inner) };
        hub.blobs().remove_leftovers();
        hub.spawn("dispatch", turns::dispatch::run);
        hub.spawn("marks", turns::marks::run);
        hub.spawn("sweep", sweep::run);
        hub.spawn("webhooks", webhooks::run);
        hub.spawn("schedules", schedules::run);
        hub.spawn("gateways", gateway::manage);
        hub.inner.phase.send_replace(Phase::Serving);
        crate::multi_agent::resume_all(&hub);
        hub
    }

    fn spawn<F, Fut>(&self, name: &'static str, run: F)
    where
        F: Fn(Hub) -> Fut + Send + Copy + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let (hub, metrics) = (self.clone(), self.inner.metrics.clone());
        let died = move |_: &str| metrics.task_died(name);
        self.inner.tasks.keep(name, self.inner.stop.clone(), died, move || run(hub.clone()));
    }

    /// Drains and stops: no new Turn or Part, the running ones get `limit`, sessions close, leases go back.
    pub async fn stop(&self, limit: Duration) {
        self.inner.phase.send_replace(Phase::Draining);
        self.inner.drain.cancel();
        let idle = turns::dispatch::idle(self);
        let _ = tokio::time::timeout(limit, idle).await;
        self.inner.stop.cancel();
        self.inner.tasks.wait(Duration::from_secs(20)).await;
        self.inner.runtimes.shutdown().await;
        self.inner.runtimes.revoke_tokens(self).await;
        self.inner.phase.send_replace(Phase::Stopped);
    }

    /// Asks whoever runs the hub to stop it; `None` takes the configured drain time.
    pub fn request_stop(&self, drain: Option<Duration>) {
        let _ = self.inner.stop_requests.try_send(drain);
    }

    /// The requests to stop; the first caller takes them.
    pub fn stop_requests(&self) -> mpsc::Receiver<Option<Duration>> {
        let mut waiter = self.inner.stop_waiter.lock().unwrap_or_else(PoisonError::into_inner);
        waiter.take().unwrap_or_else(|| mpsc::channel(1).1)
    }

    /// How far the hub is.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.inner.phase.subscribe()
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.inner.parts.store
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.inner.parts.config
    }

    /// The data directory.
    pub fn home(&self) -> &Home {
        &self.inner.parts.home
    }

    /// The redactor.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.parts.redactor
    }

    /// The event feed.
    pub fn feed(&self) -> &Feed {
        &self.inner.feed
    }

    /// Counters.
    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    /// Present wall time.
    pub fn now(&self) -> Timestamp {
        self.inner.parts.clock.now()
    }

    /// An act of a principal, now.
    pub fn act(&self, principal: Principal) -> Act {
        Act { principal, now: self.now(), entropy: self.inner.parts.entropy.clone() }
    }

    /// The live channel of a Connection.
    pub fn channel(&self, id: &ConnectionId) -> Option<Arc<dyn Channel>> {
        self.inner.channels.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Health of a Connection now.
    pub fn connection_health(&self, id: &ConnectionId) -> crate::ConnectionHealth {
        let draining = *self.inner.phase.borrow() >= Phase::Draining;
        self.inner.board.health(id, draining)
    }

    pub(crate) fn set_channel(&self, id: &ConnectionId, channel: Option<Arc<dyn Channel>>) {
        let mut channels = self.inner.channels.lock().unwrap_or_else(PoisonError::into_inner);
        match channel {
            Some(channel) => channels.insert(id.clone(), channel),
            None => channels.remove(id),
        };
    }
}
