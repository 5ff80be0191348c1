//! Drives a run: the one task that writes its journal.

use std::collections::BTreeMap;
use std::time::Duration;

use loom_capabilities::{AgentState, Begun, Chain, TurnOrder, TurnPlan, TurnRoom, TurnState, TurnView};
use loom_domain::text::prefix;
use loom_domain::{Code, Error, Result, TurnId};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::decide::{Next, Progress};
use super::file::{Lane, MultiAgentFile};
use super::prompt;
use super::reports::{Report, Told};
use super::row::{LaneEnd, LaneRound, RunEvent, StopReason};
use super::view::begun;
use crate::hub::Hub;

/// Longest time between two looks at what comes next.
const LOOK: Duration = Duration::from_secs(60);
/// Rest until the Turns of a run are asked to stop again: one may have been about to begin.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Longest time of one lane-round beside its Agent's own limits.
const TURN_SECONDS: u64 = 24 * 60 * 60;

/// What came of a lane-round: its Turn, or how it ended without one that is over.
type Ended = (LaneRound, std::result::Result<TurnView, (LaneEnd, Error)>);

/// A run in the hands of its one task.
pub(super) struct Scheduler {
    hub: Hub,
    run_id: String,
    file: MultiAgentFile,
    agents: BTreeMap<String, String>,
    journal: Chain<RunEvent>,
    running: JoinSet<Ended>,
    lanes: Vec<String>,
    stopping: Option<Instant>,
}

impl Scheduler {
    /// Takes a journal that has its first row.
    pub(super) fn new(hub: Hub, journal: Chain<RunEvent>) -> Result<Self> {
        let (run_id, file, agents) = begun(journal.rows())?;
        let (run_id, file, agents) = (run_id.to_owned(), file.clone(), agents.clone());
        let (running, lanes) = (JoinSet::new(), Vec::new());
        Ok(Scheduler { hub, run_id, file, agents, journal, running, lanes, stopping: None })
    }

    /// Works until the run is over. `stop` gives the grace of a stop that was asked for.
    pub(super) async fn run(
        mut self,
        mut told: mpsc::Receiver<Told>,
        mut stop: watch::Receiver<Option<Duration>>,
    ) -> Result<()> {
        loop {
            let asked = *stop.borrow_and_update();
            if let Some(grace) = asked.filter(|_| self.stopping.is_none()) {
                self.ask_to_stop(grace).await?;
            }
            let now = self.hub.now();
            let lanes: Vec<&str> = self.lanes.iter().map(String::as_str).collect();
            let next = Progress::of(&self.file, self.journal.rows()).next(&self.file, &lanes, now);
            let mut wait = LOOK;
            match next {
                Next::Begin { open, fresh } => {
                    for of in fresh {
                        let seen = self.journal.rows().len() as u64;
                        self.add(RunEvent::LaneStarted { of: of.clone(), seen }).await?;
                        self.begin(of);
                    }
                    open.into_iter().for_each(|of| self.begin(of));
                    continue;
                }
                Next::Wait(Some(at)) => {
                    wait = Duration::from_millis(u64::try_from(at.since_ms(now)).unwrap_or(0)).min(LOOK);
                }
                Next::Stop(reason, which) if self.running.is_empty() => {
                    return self.add(RunEvent::Stopped { reason, which }).await;
                }
                // What runs ends first.
                Next::Wait(None) | Next::Stop(..) => {}
            }
            let grace = self.stopping.unwrap_or_else(|| Instant::now() + LOOK);
            tokio::select! {
                Some(ended) = self.running.join_next() => {
                    self.ended(ended.map_err(Error::internal)?).await?;
                }
                Some(report) = told.recv() => self.told(report).await,
                changed = stop.changed() => if changed.is_err() {
                    return Err(Error::new(Code::HubDraining, "the hub is shutting down"));
                },
                () = tokio::time::sleep_until(grace), if self.stopping.is_some() => {
                    self.stopping = Some(Instant::now() + ASK_AGAIN);
                    self.stop_turns().await;
                }
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn ask_to_stop(&mut self, grace: Duration) -> Result<()> {
        self.stopping = Some(Instant::now() + grace);
        let asked = Progress::of(&self.file, self.journal.rows()).stop_asked.is_some();
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        if asked { Ok(()) } else { self.add(RunEvent::StopAsked { grace_ms }).await }
    }

    /// Asks the Turns that still run to stop.
    async fn stop_turns(&self) {
        let own = self.key_of_run();
        let stop = move |room: &TurnRoom| {
            for turn in room.list(loom_capabilities::TURNS_LISTED_MAX) {
                let is_own = turn.turn_key.as_deref().is_some_and(|key| key.starts_with(&own));
                if is_own && let Ok(id) = turn.turn_id.parse::<TurnId>() {
                    let _ = room.stop(&id);
                }
            }
            Ok(())
        };
        if let Err(error) = self.hub.turn_room().beside(stop).await {
            tracing::warn!("the Turns of the run {} were not asked to stop: {error}", self.run_id);
        }
    }

    fn key_of_run(&self) -> String {
        format!("multi-agent/{}/", self.run_id)
    }

    fn begin(&mut self, of: LaneRound) {
        let Some(lane) = self.file.lanes.iter().find(|lane| lane.id == of.lane).cloned() else { return };
        let order = self.order(&lane, &of);
        let hub = self.hub.clone();
        self.lanes.push(of.lane.clone());
        self.running.spawn(async move {
            let turn = Box::pin(turn(hub, order)).await;
            (of, turn)
        });
    }

    /// The Turn of a lane-round: the same whenever it is made.
    fn order(&self, lane: &Lane, of: &LaneRound) -> TurnOrder {
        let rows = self.journal.rows();
        let seen = rows.iter().find_map(|row| match &row.body {
            RunEvent::LaneStarted { of: started, seen } if started == of => Some(*seen),
            _ => None,
        });
        TurnOrder {
            connectors: lane.connectors.clone(),
            agent: self.agents.get(&lane.id).cloned(),
            prompt: Some(prompt::of(&self.file, lane, of, rows, seen.unwrap_or(0))),
            turn_key: Some(format!("{}{}/{}/{}", self.key_of_run(), of.lane, of.round, of.attempt)),
            deadline_seconds: Some(TURN_SECONDS),
            ..TurnOrder::new()
        }
    }

    async fn ended(&mut self, (of, turn): Ended) -> Result<()> {
        self.lanes.retain(|lane| *lane != of.lane);
        let told = Progress::of(&self.file, self.journal.rows())
            .lanes
            .get(&of.lane)
            .and_then(|lane| lane.told.clone());
        let mut done = match turn {
            Ok(turn) => {
                let agent = turn.agent.clone().unwrap_or_default();
                let end = match (turn.state, agent.state) {
                    (TurnState::Completed, _) => LaneEnd::Done,
                    (TurnState::Lost, _) | (_, Some(AgentState::Lost)) => LaneEnd::Lost,
                    (TurnState::Interrupted, _) => LaneEnd::Stopped,
                    _ => LaneEnd::Failed,
                };
                let answer = agent.answer.unwrap_or_default();
                let summary = prefix(&answer, self.file.messages.max_chars).to_owned();
                let report = told.unwrap_or(Report { summary, ..Report::default() });
                let error = turn.error.or(agent.error);
                (end, Some(turn.turn_id), report, agent.tokens, error)
            }
            Err((_, error)) if error.code == Code::HubDraining => return Err(error),
            Err((end, error)) => (end, None, Report::default(), None, Some(Box::new(error))),
        };
        if done.0 == LaneEnd::Stopped && self.stopping.is_none() {
            // Its owner cancelled the Turn, not the run.
            done.0 = LaneEnd::Failed;
        }
        let (end, turn_id, report, tokens, error) = done;
        self.add(RunEvent::LaneDone { of, end, turn_id, report, tokens, error }).await
    }

    async fn told(&mut self, told: Told) {
        let stored = self.report(&told.lane, told.report).await;
        // An Agent that no longer waits for the answer has its report stored all the same.
        drop(told.stored.send(stored));
    }

    async fn report(&mut self, lane: &str, report: Report) -> Result<()> {
        let of = report.taken(lane, &self.file, self.journal.rows())?;
        self.add(RunEvent::LaneReported { of, report }).await
    }

    async fn add(&mut self, event: RunEvent) -> Result<()> {
        self.journal.append_async(self.hub.now(), event).await.map(drop)
    }
}

/// Runs the Turn of a lane-round, or takes it up where it was left. One that is over is given as it is.
async fn turn(hub: Hub, order: TurnOrder) -> std::result::Result<TurnView, (LaneEnd, Error)> {
    let begun = Box::pin(begin(&hub, &order)).await.map_err(|error| (LaneEnd::Failed, error))?;
    // From here on the Agent may have begun: what ends without an end is not begun again.
    let turn = async {
        match begun {
            Begun::New(id, journal) => hub.turn_to_its_end(&id, *journal).await,
            Begun::Known(id) => {
                let asked = id.clone();
                let known = move |room: &TurnRoom| {
                    let view = room.view(&asked)?;
                    let journal = if view.state.is_final() { None } else { Some(room.take(&asked)?) };
                    Ok((view, journal))
                };
                match hub.turn_room().beside(known).await? {
                    (view, None) => Ok(view),
                    (_, Some(journal)) => hub.turn_to_its_end(&id, journal).await,
                }
            }
        }
    };
    Box::pin(turn).await.map_err(|error| (LaneEnd::Lost, error))
}

async fn begin(hub: &Hub, order: &TurnOrder) -> Result<Begun> {
    let (world, catalog) = (hub.world(), hub.catalog().await?);
    let plan = Box::pin(TurnPlan::make(&world, &catalog, order)).await?;
    let order = order.clone();
    hub.turn_room().beside(move |room| room.begin(&world, &order, &plan)).await
}

/// A run that was asked to stop while no hub worked on it is over.
pub(super) fn close(hub: &Hub, mut journal: Chain<RunEvent>) -> Result<()> {
    let stopped = RunEvent::Stopped { reason: StopReason::Stopped, which: None };
    journal.append(hub.now(), stopped).map(drop)
}
