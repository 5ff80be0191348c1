//! Runs a Turn from wherever its journal stands to its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Error, Result, TurnId};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::agent::{AgentCall, AgentEnd, AgentStep, input_of};
use super::memory::Rows;
use super::order::{OnError, TurnOrder};
use super::plan::TurnPlan;
use super::room::{Begun, Journal, TurnRoom};
use super::row::{AgentState, JournalRow, TurnEnd, TurnEvent};
use super::view::{ConnectorState, ConnectorView, TurnView};
use crate::{Catalog, Effects, NoObserver, PayloadStore, World, blocking};

/// How often a wish to stop is looked for.
const STOP_LOOK: Duration = Duration::from_millis(200);
/// Longest answer that a journal keeps.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Watches a Turn.
pub trait TurnObserver: Send {
    /// A row is on disk.
    fn row(&mut self, _: &JournalRow) {}
}

impl TurnObserver for NoObserver {}

/// What a Turn runs with.
pub struct Engine<'a> {
    /// What its runs are lent.
    pub world: World,
    /// The connectors.
    pub catalog: &'a Catalog,
    /// Who runs Agents.
    pub agents: Option<Arc<dyn AgentStep>>,
    /// Who watches.
    pub observer: &'a mut dyn TurnObserver,
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// What a Turn left behind.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its view.
    pub turn: TurnView,
    /// Payloads of its connectors, in order.
    pub payloads: Vec<Value>,
}

/// Why the work stopped before its end.
enum Stop {
    /// Asked for; the Turn can be resumed.
    Cancelled,
    /// The Turn is over with this.
    End(TurnEnd, Option<Error>),
}

impl Engine<'_> {
    /// Begins a Turn and runs it, or gives the one that has its key as it is.
    pub async fn begin(&mut self, room: &TurnRoom, order: TurnOrder) -> Result<Ran> {
        let order = order.checked(self.catalog)?;
        let plan = TurnPlan::make(&self.world, self.catalog, &order).await?;
        let world = self.world.clone();
        match room.beside(move |room| room.begin(&world, &order, &plan)).await? {
            Begun::New(id, journal) => self.run(room, &id, *journal).await,
            Begun::Known(id) => {
                let known = move |room: &TurnRoom| {
                    let turn = room.view(&id)?;
                    let payloads = stored(&turn, room.payloads())?;
                    Ok(Ran { turn, payloads })
                };
                room.beside(known).await
            }
        }
    }

    /// Goes on with a Turn; one that is over is given as it is.
    pub async fn resume(&mut self, room: &TurnRoom, id: &TurnId) -> Result<Ran> {
        let taken = id.clone();
        let journal = room.beside(move |room| room.take(&taken)).await?;
        self.run(room, id, journal).await
    }

    /// Runs a Turn whose journal is in hand.
    pub async fn run(&mut self, room: &TurnRoom, id: &TurnId, journal: Journal) -> Result<Ran> {
        journal.rows().iter().for_each(|row| self.observer.row(row));
        let (mut rows, mark) = (Rows::Kept(Box::new(journal)), room.stop_path(id));
        let ran = self.go(&mut rows, id, Some(room.payloads()), Some(mark.clone())).await;
        // What was asked of this run is done; a mark that is not there is as good.
        let _ = std::fs::remove_file(mark);
        ran
    }

    /// Goes on until the Turn is over or stopped. `stop` is the file whose presence asks to stop.
    pub(super) async fn go(
        &mut self,
        rows: &mut Rows,
        id: &TurnId,
        store: Option<&PayloadStore>,
        stop: Option<PathBuf>,
    ) -> Result<Ran> {
        let view = TurnView::of(rows.all(), true)?;
        let order = order_of(rows.all())?;
        let mut payloads = match store.cloned() {
            None => Vec::new(),
            Some(store) => {
                let view = view.clone();
                blocking(move || stored(&view, &store)).await?
            }
        };
        if view.state.is_final() {
            return Ok(Ran { turn: view, payloads });
        }
        let cancel = self.world.cancel.child_token();
        let deadline = Instant::now() + Duration::from_secs(order.deadline_seconds());
        self.world.cancel = cancel.clone();
        self.world.payloads = store.cloned();
        self.world.trace.turn_id = Some(id.to_string());
        self.world.trace.agent_id.clone_from(&order.agent);
        let watch = watch(cancel.clone(), stop, deadline);
        let work = Box::pin(self.work(rows, id, &order, &view, &mut payloads));
        let ended = tokio::select! {
            biased;
            ended = work => ended?,
            never = watch => never,
        };
        let (end, error) = match ended {
            Stop::Cancelled if Instant::now() < deadline => {
                self.append(rows, TurnEvent::Interrupted { reason: "cancelled".to_owned() }).await?;
                return Ok(Ran { turn: TurnView::of(rows.all(), false)?, payloads });
            }
            Stop::Cancelled => {
                let why = Error::new(Code::DeadlineExceeded, "the deadline of the Turn passed");
                (TurnEnd::Failed, Some(why))
            }
            Stop::End(end, error) => (end, error),
        };
        self.append(rows, TurnEvent::Committed { end, error: error.map(Box::new) }).await?;
        Ok(Ran { turn: TurnView::of(rows.all(), false)?, payloads })
    }

    async fn work(
        &mut self,
        rows: &mut Rows,
        id: &TurnId,
        order: &TurnOrder,
        view: &TurnView,
        payloads: &mut Vec<Value>,
    ) -> Result<Stop> {
        for (index, call) in order.connectors.iter().enumerate() {
            let known = view.connectors.get(index).map(|one| one.state).unwrap_or_default();
            let failed = match known {
                ConnectorState::Done => None,
                ConnectorState::Failed => view.connectors.get(index).and_then(|one| one.error.clone()),
                ConnectorState::Pending | ConnectorState::Running => {
                    match self.connector(rows, index, call, payloads).await? {
                        Some(done) => done,
                        None => return Ok(Stop::Cancelled),
                    }
                }
            };
            if let Some(error) = failed
                && order.on_error == OnError::Stop
            {
                return Ok(Stop::End(TurnEnd::Failed, Some(*error)));
            }
        }
        let Some(agent) = &order.agent else { return Ok(Stop::End(TurnEnd::Completed, None)) };
        if self.world.cancel.is_cancelled() {
            return Ok(Stop::Cancelled);
        }
        self.agent(rows, id, agent, order, view, payloads).await
    }

    /// Runs a connector. Nothing when it was stopped; else the error it ended with, if any.
    async fn connector(
        &mut self,
        rows: &mut Rows,
        index: usize,
        call: &super::TurnCall,
        payloads: &mut Vec<Value>,
    ) -> Result<Option<Option<Box<Error>>>> {
        if self.world.cancel.is_cancelled() {
            return Ok(None);
        }
        let connector = Arc::clone(self.catalog.connector(&call.connector)?);
        let connector_id = connector.entry().qualified();
        self.append(rows, TurnEvent::ConnectorStarted { index, connector_id: connector_id.clone() }).await?;
        let mut unwatched = NoObserver;
        let run = crate::run(&self.world, &*connector, call.request(), None, &mut unwatched);
        let ended = Box::pin(run).await;
        if self.world.cancel.is_cancelled() {
            return Ok(None);
        }
        let mut payload_lost = false;
        let (payload_id, error, effects) = match ended {
            Ok(payload) => {
                payload_lost = self.world.payloads.is_some() && !payload.effects.state_written;
                let found = (
                    Some(payload.payload_id.clone()).filter(|_| payload.effects.state_written),
                    payload.error.clone().map(Box::new),
                    payload.effects,
                );
                payloads.push(serde_json::to_value(&payload).map_err(Error::internal)?);
                found
            }
            Err(error) => (None, Some(Box::new(error)), Effects::default()),
        };
        let ok = error.is_none();
        let done = TurnEvent::ConnectorDone {
            index,
            connector_id,
            ok,
            payload_id,
            payload_lost,
            error: error.clone(),
            effects,
        };
        self.append(rows, done).await?;
        Ok(Some(error))
    }

    async fn agent(
        &mut self,
        rows: &mut Rows,
        id: &TurnId,
        agent: &str,
        order: &TurnOrder,
        view: &TurnView,
        payloads: &[Value],
    ) -> Result<Stop> {
        let known = view.agent.as_ref().and_then(|agent| agent.state);
        if let Some(state) = known {
            let error = view.agent.as_ref().and_then(|agent| agent.error.clone()).map(|error| *error);
            return Ok(stop_of(state, error));
        }
        let Some(agents) = self.agents.clone() else {
            return Err(Error::new(Code::HubUnreachable, "an Agent runs in the hub").with_hint("loom up"));
        };
        let boundary = format!("{:032x}", self.world.entropy.bits());
        let text = input_of(payloads, order.prompt.as_deref().unwrap_or_default(), &boundary);
        let ids = payloads.iter().filter_map(|one| one.get("payload_id")?.as_str()).map(str::to_owned);
        let payload_ids = ids.collect();
        self.append(rows, TurnEvent::AgentStarted { agent_id: agent.to_owned(), payload_ids }).await?;
        let call = AgentCall {
            key: id.to_string(),
            agent: agent.to_owned(),
            text,
            cancel: self.world.cancel.clone(),
        };
        let AgentEnd { state, item_id, agent_turn_id, answer, tokens, outbox_items, error } =
            agents.run(call).await?;
        if self.world.cancel.is_cancelled() && state != AgentState::Done {
            return Ok(Stop::Cancelled);
        }
        let answer = answer.map(|text| loom_domain::text::prefix(&text, ANSWER_BYTES_MAX).to_owned());
        let kept = error.clone().map(Box::new);
        self.append(
            rows,
            TurnEvent::AgentDone { state, item_id, agent_turn_id, answer, tokens, error: kept },
        )
        .await?;
        if !outbox_items.is_empty() {
            self.append(rows, TurnEvent::OutboxItems { ids: outbox_items }).await?;
        }
        Ok(stop_of(state, error))
    }

    async fn append(&mut self, rows: &mut Rows, event: TurnEvent) -> Result<()> {
        let row = rows.append(self.world.clock.now(), event).await?;
        self.observer.row(row);
        Ok(())
    }
}

fn stop_of(state: AgentState, error: Option<Error>) -> Stop {
    match state {
        AgentState::Done => Stop::End(TurnEnd::Completed, None),
        AgentState::Failed => Stop::End(TurnEnd::Failed, error),
        AgentState::Lost => Stop::End(TurnEnd::Lost, error),
    }
}

/// Cancels the work when that is asked for or the time is over; never ends by itself.
async fn watch(cancel: CancellationToken, stop: Option<PathBuf>, deadline: Instant) -> Stop {
    loop {
        tokio::time::sleep(STOP_LOOK).await;
        if Instant::now() >= deadline || stop.as_ref().is_some_and(|mark| mark.exists()) {
            cancel.cancel();
        }
    }
}

/// The order that a journal begins with.
pub(super) fn order_of(rows: &[JournalRow]) -> Result<TurnOrder> {
    match rows.first().map(|row| &row.body) {
        Some(TurnEvent::Planned { order, .. }) => Ok((**order).clone()),
        _ => Err(Error::new(Code::IntegrityError, "the journal does not begin with a plan")),
    }
}

/// Payloads of connectors that are done: read back, never read again from outside.
fn stored(view: &TurnView, store: &PayloadStore) -> Result<Vec<Value>> {
    let mut payloads = Vec::new();
    for one in &view.connectors {
        let Some(id) = &one.payload_id else {
            payloads.extend(one.payload_lost.then(|| lost(one)));
            continue;
        };
        match store.show(id) {
            Ok(payload) => payloads.push(payload),
            // Payloads of Turns that are over are removed with time.
            Err(error) if error.code == Code::NotFound && view.state.is_final() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(payloads)
}

/// What stands for a payload that was made and could not be kept: that it is gone, never that it was empty.
fn lost(of: &ConnectorView) -> Value {
    let error = Error::new(Code::ArtifactMissing, "the payload was read and could not be kept")
        .with_hint("begin a Turn under another key to read it anew");
    json!({
        "connector_id": of.connector_id, "payload_id": null, "ok": false, "complete": false,
        "warnings": ["payload_not_saved"], "error": error,
    })
}
