//! The state every task of one twin shares.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::world::World;

/// Longest sleep of the delivery pump.
const PUMP_IDLE: Duration = Duration::from_hours(1);

/// World, tasks and wake-ups.
#[derive(Debug)]
pub(super) struct Shared {
    world: Mutex<World>,
    pub(super) cancel: CancellationToken,
    pub(super) tasks: TaskTracker,
    pump: Notify,
    changes: watch::Sender<u64>,
}

impl Shared {
    pub(super) fn new(world: World) -> Arc<Self> {
        let (world, changes) = (Mutex::new(world), watch::Sender::new(0));
        let (cancel, tasks) = (CancellationToken::new(), TaskTracker::new());
        Arc::new(Self { world, cancel, tasks, pump: Notify::new(), changes })
    }

    /// Reads the world.
    pub(super) fn read<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.lock())
    }

    /// Changes the world, then wakes deliveries and whoever waits for a change.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        let out = act(&mut self.lock());
        self.pump.notify_one();
        self.changes.send_modify(|n| *n += 1);
        out
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Runs a task that ends with the twin.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.tasks.spawn(async move {
            cancel.run_until_cancelled_owned(task).await;
        });
    }

    /// Sends due envelopes until the twin stops.
    pub(super) async fn pump(self: Arc<Self>) {
        loop {
            let now = Instant::now();
            let next = self.lock().pump(now).unwrap_or(now + PUMP_IDLE);
            tokio::select! {
                () = tokio::time::sleep_until(next) => self.changes.send_modify(|n| *n += 1),
                () = self.pump.notified() => {}
            }
        }
    }
}
