//! What every request needs: configuration, guards, counters, and the doors to the hub.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{Error, Timestamp};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::guard::{Buckets, Front, Refused, Throttle};
use crate::status::StatusSource;
use crate::{ConnectionLimits, EventSource, IsRuntimeChild, ListenConfig, Metrics, Peer, TokenStore};

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

/// A place of a request in work; it is free again when dropped.
pub(crate) struct WorkPlace<'a> {
    _place: SemaphorePermit<'a>,
    _of_others: Option<SemaphorePermit<'a>>,
}

struct Inner {
    config: ListenConfig,
    doors: Doors,
    front: Front,
    throttle: Throttle,
    buckets: Buckets,
    refused: Refused,
    in_work: Semaphore,
    in_work_of_others: Semaphore,
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
            in_work_of_others: Semaphore::new(ConnectionLimits::of_others(config.connections.in_work_max)),
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
    /// A place for a request in work, while there is one; some are the owner's alone.
    pub(crate) fn work_place(&self, peer: &Peer) -> Option<WorkPlace<'_>> {
        let of_others = match peer.may_be_owner() {
            true => None,
            false => Some(self.0.in_work_of_others.try_acquire().ok()?),
        };
        let place = self.0.in_work.try_acquire().ok()?;
        Some(WorkPlace { _place: place, _of_others: of_others })
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
