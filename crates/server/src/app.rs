//! What every request needs: configuration, guards, counters, and the doors to the hub.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{Error, Timestamp};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::guard::{Buckets, Front, Refused, Throttle};
use crate::status::StatusSource;
use crate::{EventSource, IsRuntimeChild, ListenConfig, Metrics, TokenStore};

/// Tells the time of day.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Tells whether the hub does its work.
#[async_trait]
pub trait Readiness: Send + Sync + 'static {
    /// Whether the store is writable, recovery is done and the listeners serve, with facts about each.
    async fn readiness(&self) -> (bool, Value);
}

/// What the server asks of the rest of the program.
#[derive(Clone)]
pub struct Doors {
    /// The hub.
    pub desk: Arc<dyn Desk>,
    /// Where tokens are looked up.
    pub tokens: Arc<dyn TokenStore>,
    /// Where events come from.
    pub events: Arc<dyn EventSource>,
    /// What the status routes tell.
    pub status: Arc<dyn StatusSource>,
    /// Whether the hub is ready.
    pub readiness: Arc<dyn Readiness>,
    /// The time of day.
    pub clock: Clock,
    /// Tells runtime children apart from the owner's own processes.
    pub is_runtime_child: IsRuntimeChild,
    /// Whether a document holds a secret that this process knows.
    pub holds_secret: HoldsSecret,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

/// Whether bytes hold a known secret.
pub type HoldsSecret = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The server's shared state.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    config: ListenConfig,
    doors: Doors,
    front: Front,
    throttle: Throttle,
    buckets: Buckets,
    refused: Refused,
    in_work: Semaphore,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

impl App {
    /// Puts the state together for a bound listener.
    pub(crate) fn new(
        config: ListenConfig,
        doors: Doors,
        bound: Option<SocketAddr>,
        stop: CancellationToken,
    ) -> Result<Self, Error> {
        Ok(App(Arc::new(Inner {
            front: Front::new(&config, bound)?,
            throttle: Throttle::new(&config.requests),
            buckets: Buckets::new(&config.requests),
            refused: Refused::default(),
            in_work: Semaphore::new(config.connections.in_work_max),
            streams: Arc::new(Semaphore::new(config.streams.streams_max)),
            stop,
            config,
            doors,
        })))
    }

    pub(crate) fn config(&self) -> &ListenConfig {
        &self.0.config
    }
    pub(crate) fn doors(&self) -> &Doors {
        &self.0.doors
    }
    pub(crate) fn desk(&self) -> &dyn Desk {
        &*self.0.doors.desk
    }
    pub(crate) fn front(&self) -> &Front {
        &self.0.front
    }
    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }
    pub(crate) fn buckets(&self) -> &Buckets {
        &self.0.buckets
    }
    pub(crate) fn refused(&self) -> &Refused {
        &self.0.refused
    }
    pub(crate) fn in_work(&self) -> &Semaphore {
        &self.0.in_work
    }
    pub(crate) fn streams(&self) -> &Arc<Semaphore> {
        &self.0.streams
    }
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }
    pub(crate) fn now(&self) -> Timestamp {
        (self.0.doors.clock)()
    }
}
