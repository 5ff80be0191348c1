//! What lanes tell: their result, words to other lanes, and whether they are done.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use loom_domain::{AgentId, Code, Error, Principal, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::hub::Hub;

/// Words to another lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerMessage {
    /// Lane.
    pub to: String,
    /// Text.
    pub text: String,
}

/// What a lane tells of its round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Report {
    /// Result.
    pub summary: String,
    /// Words to other lanes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<PeerMessage>,
    /// Whether the lane has nothing left to do.
    pub done: bool,
}

/// A report on its way into the journal.
pub(super) struct Told {
    pub(super) lane: String,
    pub(super) report: Report,
    pub(super) stored: oneshot::Sender<Result<()>>,
}

/// Which Agents work in a lane now, and where their reports go.
#[derive(Default)]
pub(crate) struct Reports(Mutex<HashMap<String, Place>>);

#[derive(Clone)]
struct Place {
    run: String,
    lane: String,
    tell: mpsc::Sender<Told>,
}

impl Reports {
    /// Takes the Agents of a run; one that works in another run keeps it from starting.
    pub(super) fn take<'a>(
        &self,
        run: &str,
        lanes: impl Iterator<Item = (&'a String, &'a String)> + Clone,
        tell: &mpsc::Sender<Told>,
    ) -> Result<()> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, agent) in lanes.clone() {
            if let Some(place) = places.get(agent).filter(|place| place.run != run) {
                let why = format!("the agent {agent} works in the run {}", place.run);
                return Err(Error::new(Code::Locked, why).with_hint("loom multi-agent list"));
            }
        }
        for (lane, agent) in lanes {
            let place = Place { run: run.to_owned(), lane: lane.clone(), tell: tell.clone() };
            places.insert(agent.clone(), place);
        }
        Ok(())
    }

    /// Gives the Agents of a run back.
    pub(super) fn give_back(&self, run: &str) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|_, place| place.run != run);
    }

    fn of(&self, agent: &AgentId) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(agent.as_str()).cloned()
    }
}

impl Hub {
    /// Takes the report of an Agent for the lane it works in; when this returns, the journal holds it.
    pub async fn report_lane(&self, who: &Principal, report: Report) -> Result<()> {
        let Principal::Agent(agent) = who else {
            return Err(Error::new(Code::Forbidden, "only the Agent of a lane reports for it"));
        };
        let nobody = || Error::new(Code::InvalidState, "this Agent works in no lane now");
        let place = self.inner.reports.of(agent).ok_or_else(nobody)?;
        let (stored, answer) = oneshot::channel();
        let told = Told { lane: place.lane, report, stored };
        place.tell.send(told).await.map_err(|_| nobody())?;
        answer.await.map_err(|_| nobody())?
    }
}
