//! Places of runs: so many at once, and few of them for each Agent.

use std::sync::Arc;

use loom_domain::{AgentId, Code, Error, Principal, Result};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::shares::{Share, Shares};

/// Runs at once; further ones wait for their place.
const RUNS_AT_ONCE_MAX: usize = 16;
/// Runs of one Agent that run or wait.
const RUNS_OF_AGENT_MAX: usize = 4;

/// The places of a hub's runs.
pub(crate) struct Places {
    free: Semaphore,
    agents: Arc<Shares<AgentId>>,
}

impl Default for Places {
    fn default() -> Self {
        Places { free: Semaphore::new(RUNS_AT_ONCE_MAX), agents: Arc::default() }
    }
}

/// Who was let in; it may run once it has a place.
pub(crate) struct Entry {
    places: Arc<Places>,
    _share: Option<Share<AgentId>>,
}

impl Places {
    /// Lets a principal in; an Agent with too many runs is refused.
    pub(crate) fn enter(self: &Arc<Self>, who: &Principal) -> Result<Entry> {
        let share = match who {
            Principal::Agent(id) => {
                let share = self.agents.take(id.clone(), RUNS_OF_AGENT_MAX);
                Some(share.ok_or_else(too_many)?)
            }
            _ => None,
        };
        Ok(Entry { places: Arc::clone(self), _share: share })
    }
}

fn too_many() -> Error {
    let why = format!("an Agent has at most {RUNS_OF_AGENT_MAX} runs at once");
    Error::new(Code::RateLimited, why).with_hint("wait for one of your runs, then ask again")
}

impl Entry {
    /// Waits for a place; it is free again when what is given goes.
    pub(crate) async fn place(&self) -> Result<SemaphorePermit<'_>> {
        self.places.free.acquire().await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-035: an Agent has few runs at once and is refused more; what is over leaves its place.
    #[tokio::test]
    async fn cap_035_runs_have_places() {
        let places = Arc::new(Places::default());
        let (one, other) = (AgentId::new(1, 1), AgentId::new(1, 2));
        let mut entries: Vec<Entry> =
            (0..4).map(|_| places.enter(&Principal::Agent(one.clone())).unwrap()).collect();
        let refused = places.enter(&Principal::Agent(one.clone())).err().unwrap();
        assert_eq!(refused.code, Code::RateLimited);
        let entry = places.enter(&Principal::Agent(other)).unwrap();
        entries.pop();
        entries.push(places.enter(&Principal::Agent(one)).unwrap());
        let owner = places.enter(&Principal::Owner).unwrap();
        let mut taken = Vec::new();
        for _ in 0..RUNS_AT_ONCE_MAX {
            taken.push(owner.place().await.unwrap());
        }
        let waits = tokio::time::timeout(std::time::Duration::ZERO, entry.place());
        assert!(waits.await.is_err(), "all places are taken");
        taken.pop();
        drop(entry.place().await.unwrap());
    }
}
