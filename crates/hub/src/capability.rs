//! Turns of connectors and Agents: begun, run, stopped and resumed by the hub, each with a journal below the home.

mod agents;
mod turns;

use loom_capabilities::{Catalog, PayloadStore, Retention, TurnRoom, World};
use loom_domain::Result;
use tokio::sync::{Semaphore, watch};

use crate::hub::Hub;

pub use turns::Asked;

/// Most Turns that run at once; further ones wait for their place.
const TURNS_AT_ONCE_MAX: usize = 16;

/// What the hub keeps for these Turns.
pub(crate) struct Desk {
    places: Semaphore,
    ended: watch::Sender<u64>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk { places: Semaphore::new(TURNS_AT_ONCE_MAX), ended: watch::Sender::new(0) }
    }
}

impl Hub {
    /// The Turns of this home.
    pub(crate) fn turn_room(&self) -> TurnRoom {
        let kept = &self.config().retention;
        let retention =
            Retention { days: kept.connector_result_days, bytes_max: kept.connector_result_bytes };
        let home = self.home().root();
        TurnRoom::new(home, PayloadStore::new(home).retention(retention))
    }

    /// The connectors of this home.
    pub fn catalog(&self) -> Result<Catalog> {
        Ok(Catalog::of_home(self.home().root())?.0)
    }

    /// What a run of the hub is lent; the hub's own end reaches it.
    pub(crate) fn world(&self) -> World {
        let mut world = self.inner.parts.world.clone();
        world.cancel = tokio_util::sync::CancellationToken::new();
        world
    }
}
