//! Turns of connectors and Agents: begun, run, stopped and resumed by the hub, each with a journal below the home.

mod agents;
mod payloads;
mod turns;

use loom_capabilities::{PayloadStore, Retention, TurnRoom, World};
use loom_domain::Principal;
use tokio::sync::{Semaphore, watch};

use crate::hub::Hub;

pub use turns::Asked;

/// Most Turns that run at once; further ones wait for their place.
const TURNS_AT_ONCE_MAX: usize = 16;

/// What the hub keeps for these Turns.
pub(crate) struct Desk {
    places: Semaphore,
    ended: watch::Sender<u64>,
    /// Rows that were written to journals.
    moved: watch::Sender<u64>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk {
            places: Semaphore::new(TURNS_AT_ONCE_MAX),
            ended: watch::Sender::new(0),
            moved: watch::Sender::new(0),
        }
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

    /// What a Turn is lent: it is stopped by its own token, and the hub's end reaches it through that.
    pub(crate) fn world(&self) -> World {
        let mut world = self.world_of(&Principal::Owner);
        world.cancel = tokio_util::sync::CancellationToken::new();
        world
    }
}
