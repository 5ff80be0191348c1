//! Calls of connectors through the hub: plans, the owner's gates, grants of Agents, and their runs.

mod book;
mod endpoints;
mod grants;
mod places;
mod plans;
mod run;
mod send_path;

use std::sync::Arc;

use loom_capabilities::{Catalog, World};
use loom_domain::{Code, Error, Principal, Result};

use crate::hub::{Hub, Phase};
use book::Book;
pub(crate) use places::Places;
pub use send_path::order_of;

/// Reads the catalog of the installation.
type ReadCatalog = Arc<dyn Fn() -> Result<Catalog> + Send + Sync>;

/// What runs of capabilities are lent.
#[derive(Clone)]
pub struct Lent {
    /// The owner's world: door, credentials, payloads.
    pub world: World,
    /// Reads the catalog; maps may be added while the hub runs.
    pub catalog: ReadCatalog,
}

impl Lent {
    /// Built-ins without a door.
    pub fn nothing() -> Self {
        let closed = |_: &_, _: &[String]| Err(Error::internal("this hub has no door for connectors"));
        Lent { world: World::new(Arc::new(closed)), catalog: Arc::new(|| Ok(Catalog::builtin())) }
    }
}

impl Hub {
    /// The world of a principal's runs: the owner's, with the principal's name and the hub's book of approvals.
    pub(crate) fn world_of(&self, who: &Principal) -> World {
        let mut world = self.inner.parts.lent.world.clone();
        world.principal = who.clone();
        if let Principal::Agent(id) = who {
            world.trace.agent_id = Some(id.to_string());
        }
        world.cancel = self.inner.stop.child_token();
        world.gates = Some(Arc::new(Book::new(self.clone())));
        world.send_path = Some(Arc::new(send_path::Path { hub: self.clone(), who: who.clone() }));
        world
    }

    /// The connectors of this home.
    pub async fn catalog(&self) -> Result<Catalog> {
        let read = Arc::clone(&self.inner.parts.lent.catalog);
        tokio::task::spawn_blocking(move || read()).await.map_err(Error::internal)?
    }

    /// Refuses new work while the hub ends.
    pub(crate) fn takes_work(&self) -> Result<()> {
        match *self.inner.phase.borrow() >= Phase::Draining {
            true => Err(Error::new(Code::HubDraining, "the hub is shutting down")),
            false => Ok(()),
        }
    }

    /// Looks at what an earlier life of this node left between an intent and its answer; once.
    pub(crate) async fn recover_gates(&self) -> Result<()> {
        let look = async || {
            while self.store().recover_gates(self.act(Principal::Hub), true).await? > 0 {}
            Ok(())
        };
        self.inner.gates_recovered.get_or_try_init(look).await.copied()
    }

    /// Ends gates whose time ran out, and gives up attempts of nodes that are long gone.
    pub(crate) async fn sweep_gates(&self) -> Result<()> {
        while self.store().expire_gates(self.act(Principal::Hub)).await? > 0 {}
        self.store().recover_gates(self.act(Principal::Hub), false).await.map(drop)
    }
}
