//! Begins, stops, resumes and shows runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loom_capabilities::{
    Chain, TurnOrder, blocking, chain_file, is_chain_held, is_unwritten_since, read_chain,
};
use loom_domain::{Code, Error, OperationId, Principal, Result, Timestamp};
use loom_secrets::private_file::ensure_private_dir;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::file::{MultiAgentFile, refused};
use super::log;
use super::row::{Row, RunEvent, StopReason};
use super::scheduler::{Scheduler, close};
use super::view::{RunView, State, begun};
use crate::hub::Hub;

/// Reports that wait for the journal.
const REPORTS_MAX: usize = 16;
/// Longest time that a stop waits for what runs.
const GRACE_MAX: Duration = Duration::from_secs(600);
/// Runs of one list.
const RUNS_MAX: usize = 200;

/// How a live run is asked to stop, and who waits for what.
#[derive(Default)]
pub(crate) struct Live {
    runs: Mutex<HashMap<String, watch::Sender<Option<Duration>>>>,
    /// Runs that ended or were left so far.
    ended: watch::Sender<u64>,
    /// Whether what was open has been taken up.
    ready: watch::Sender<bool>,
}

impl Live {
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, watch::Sender<Option<Duration>>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_ended(&self) {
        self.ended.send_modify(|ended| *ended = ended.wrapping_add(1));
    }
}

/// Takes up every run that was open when the hub went, and closes those that were to stop, beside the start of the hub.
pub(crate) fn resume_all(hub: &Hub) {
    let owner = hub.clone();
    hub.inner.tasks.own(async move {
        let hub = owner.clone();
        let all = blocking(move || {
            for id in ids(&hub) {
                if let Err(error) = take_up(&hub, &id) {
                    tracing::warn!("the run {id} was not taken up: {error}");
                }
            }
            Ok(())
        });
        if let Err(error) = all.await {
            tracing::warn!("open runs were not taken up: {error}");
        }
        owner.inner.loops.ready.send_replace(true);
    });
}

fn take_up(hub: &Hub, id: &OperationId) -> Result<()> {
    let rows: Vec<Row> = read_chain(&path(hub, id))?;
    let (_, file, _) = begun(&rows)?;
    let progress = super::decide::Progress::of(file, &rows);
    if progress.stopped.is_some() {
        return Ok(());
    }
    let journal = Chain::open(&path(hub, id))?;
    match progress.stop_asked {
        Some(_) => close(hub, journal),
        None => start(hub, id, journal, false),
    }
}

/// Starts a run. That it goes on after a stop is written once its Agents are its own.
fn start(hub: &Hub, id: &OperationId, journal: Chain<RunEvent>, is_resumed: bool) -> Result<()> {
    let (tell, told) = mpsc::channel(REPORTS_MAX);
    let (ask, asked) = watch::channel(None);
    let (_, _, agents) = begun(journal.rows())?;
    hub.inner.reports.take(id.as_str(), agents.iter(), &tell)?;
    let scheduler = match scheduler(hub, journal, is_resumed) {
        Ok(scheduler) => scheduler,
        Err(error) => {
            hub.inner.reports.give_back(id.as_str());
            return Err(error);
        }
    };
    hub.inner.loops.all().insert(id.to_string(), ask);
    let (owner, id) = (hub.clone(), id.clone());
    hub.inner.tasks.own(async move {
        let work = Box::pin(scheduler.run(told, asked));
        let ended = tokio::select! {
            biased;
            () = owner.inner.stop.cancelled() => Ok(()),
            ended = work => ended,
        };
        owner.inner.reports.give_back(id.as_str());
        owner.inner.loops.all().remove(id.as_str());
        owner.inner.loops.tell_ended();
        if let Err(error) = ended {
            tracing::warn!("the run {id} stopped before its end: {error}");
        }
    });
    Ok(())
}

/// Makes the journal of a run and starts it.
fn begin(hub: &Hub, id: &OperationId, started: RunEvent) -> Result<()> {
    ensure_private_dir(&folder(hub))?;
    let mut journal = Chain::create(&path(hub, id))?;
    journal.append(hub.now(), started)?;
    let begun = start(hub, id, journal, false);
    if begun.is_err() {
        // It never ran; nobody shall take it up.
        drop(std::fs::remove_file(path(hub, id)));
    }
    begun
}

fn scheduler(hub: &Hub, mut journal: Chain<RunEvent>, is_resumed: bool) -> Result<Scheduler> {
    if is_resumed {
        journal.append(hub.now(), RunEvent::Resumed)?;
    }
    Scheduler::new(hub.clone(), journal)
}

/// Ends a run that no hub works on.
fn end(hub: &Hub, id: &OperationId) -> Result<()> {
    if hub.run_view(id)?.state == State::Interrupted {
        close(hub, Chain::open(&path(hub, id))?)?;
        hub.inner.loops.tell_ended();
    }
    Ok(())
}

fn folder(hub: &Hub) -> PathBuf {
    hub.home().join("multi-agent")
}

fn path(hub: &Hub, id: &OperationId) -> PathBuf {
    chain_file(&folder(hub), id.as_str())
}

/// Runs of this home, newest first.
fn ids(hub: &Hub) -> Vec<OperationId> {
    let entries = std::fs::read_dir(folder(hub)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<OperationId> =
        names.filter_map(|name| name.strip_suffix(".ndjson")?.parse().ok()).collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids
}

/// Removes runs that ended before a time.
pub(crate) fn prune(hub: &Hub, before: Timestamp) {
    for id in ids(hub) {
        let file = path(hub, &id);
        let is_over = || hub.run_view(&id).is_ok_and(|run| run.state == State::Ended);
        if is_unwritten_since(&file, before) && is_over() {
            drop(std::fs::remove_file(file));
        }
    }
}

impl Hub {
    /// Checks a file whole, and begins its run unless only the plan is wanted.
    pub async fn run_multi_agent(&self, who: &Principal, document: &Value, dry_run: bool) -> Result<Value> {
        who.require_owner()?;
        let file = MultiAgentFile::of(document)?;
        let agents = self.lane_agents(who, &file).await?;
        if dry_run {
            let plan = json!({
                "schema_version": "loom.multi_agent_plan/v1", "id": file.id, "agents": agents, "file": file,
                "warnings": file.warnings(),
            });
            return Ok(plan);
        }
        self.takes_work()?;
        self.loops_ready().await;
        let id = OperationId::new(self.now().0, (self.inner.parts.entropy)());
        let (run_id, file) = (id.to_string(), Box::new(file));
        let started = RunEvent::Started { run_id, file, agents };
        let (hub, run) = (self.clone(), id.clone());
        blocking(move || begin(&hub, &run, started)).await?;
        self.multi_agent(&id).await
    }

    /// Lane by lane: the Agent exists, is of the runtime that is named, and works in no other lane; connectors are known.
    async fn lane_agents(&self, who: &Principal, file: &MultiAgentFile) -> Result<BTreeMap<String, String>> {
        let (mut agents, mut seen) = (BTreeMap::new(), BTreeSet::new());
        let catalog = self.catalog().await?;
        for (n, lane) in file.lanes.iter().enumerate() {
            let mut order = TurnOrder {
                connectors: lane.connectors.clone(),
                agent: Some(lane.agent.clone()),
                prompt: Some(file.objective.clone()),
                ..TurnOrder::new()
            };
            let plan = Box::pin(self.plan_turn_of(&catalog, who, &mut order)).await?;
            let agent = order.agent.unwrap_or_default();
            let runtime = plan.agent.as_ref().and_then(|agent| agent.runtime.clone()).unwrap_or_default();
            if lane.runtime.as_ref().is_some_and(|wanted| *wanted != runtime) {
                let why = format!("the Agent of {} runs on {runtime}", lane.id);
                return Err(refused(&format!("/lanes/{n}/runtime"), &why));
            }
            if !seen.insert(agent.clone()) {
                return Err(refused(&format!("/lanes/{n}/agent"), "each lane has an Agent of its own"));
            }
            plan.require_reads()?;
            agents.insert(lane.id.clone(), agent);
        }
        Ok(agents)
    }

    /// Waits until the runs that were open at the start are taken up, or the hub ends.
    pub(crate) async fn loops_ready(&self) {
        let mut ready = self.inner.loops.ready.subscribe();
        tokio::select! {
            _ = ready.wait_for(|ready| *ready) => {}
            () = self.inner.stop.cancelled() => {}
        }
    }

    /// What is known of a run.
    pub async fn multi_agent(&self, id: &OperationId) -> Result<Value> {
        let (hub, id) = (self.clone(), id.clone());
        let view = blocking(move || hub.run_view(&id)).await?;
        serde_json::to_value(view).map_err(Error::internal)
    }

    fn run_view(&self, id: &OperationId) -> Result<RunView> {
        let is_held = is_chain_held(&path(self, id));
        RunView::of(&self.run_rows(id)?, is_held)
    }

    fn run_rows(&self, id: &OperationId) -> Result<Vec<Row>> {
        read_chain(&path(self, id)).map_err(|error| match error.code {
            Code::NotFound => {
                Error::new(Code::NotFound, format!("no run {id}")).with_hint("loom multi-agent list")
            }
            _ => error,
        })
    }

    /// The newest runs.
    pub async fn list_multi_agent(&self) -> Result<Vec<RunView>> {
        self.loops_ready().await;
        let hub = self.clone();
        blocking(move || Ok(ids(&hub).iter().take(RUNS_MAX).filter_map(|id| hub.run_view(id).ok()).collect()))
            .await
    }

    /// Rows of a run behind a place, of one lane if wanted.
    pub async fn multi_agent_rows(&self, id: OperationId, since: u64, lane: Option<String>) -> Result<Value> {
        let hub = self.clone();
        blocking(move || Ok(log::page(&hub.run_rows(&id)?, since, lane.as_deref()))).await
    }

    /// Asks a run to stop: nothing new begins, and what runs is stopped behind the grace.
    pub async fn stop_multi_agent(
        &self,
        who: &Principal,
        id: &OperationId,
        grace: Duration,
    ) -> Result<Value> {
        who.require_owner()?;
        self.loops_ready().await;
        if grace > GRACE_MAX {
            return Err(Error::invalid("grace", "at most ten minutes"));
        }
        let live = self.inner.loops.all().get(id.as_str()).cloned();
        match live {
            Some(ask) => drop(ask.send_replace(Some(grace))),
            None => {
                let (hub, id) = (self.clone(), id.clone());
                blocking(move || end(&hub, &id)).await?;
            }
        }
        self.multi_agent(id).await
    }

    /// Goes on with a run that was stopped, or that no hub works on. Another end is an end, and refused, on a dry run
    /// too.
    pub async fn resume_multi_agent(
        &self,
        who: &Principal,
        id: &OperationId,
        dry_run: bool,
    ) -> Result<Value> {
        who.require_owner()?;
        self.takes_work()?;
        self.loops_ready().await;
        let (hub, run) = (self.clone(), id.clone());
        let rows = blocking(move || hub.run_rows(&run)).await?;
        let (_, file, _) = begun(&rows)?;
        let ended = super::decide::Progress::of(file, &rows).stopped.map(|(reason, _)| reason);
        let is_live = self.inner.loops.all().contains_key(id.as_str());
        if is_live {
            return self.multi_agent(id).await;
        }
        if let Some(reason) = ended.filter(|reason| *reason != StopReason::Stopped) {
            let why = format!("the run {id} ended: {}", reason.as_str());
            return Err(Error::new(Code::InvalidState, why)
                .with_detail("reason", reason.as_str())
                .with_hint("only a stopped run goes on; begin a new one with `loom multi-agent run FILE`"));
        }
        if !dry_run {
            let (hub, id) = (self.clone(), id.clone());
            blocking(move || start(&hub, &id, Chain::open(&path(&hub, &id))?, true)).await?;
        }
        self.multi_agent(id).await
    }

    /// Waits until a run is over, at most so long.
    pub async fn wait_multi_agent(&self, id: &OperationId, wait: Duration) -> Result<Value> {
        self.loops_ready().await;
        let deadline = Instant::now() + wait;
        let mut ended = self.inner.loops.ended.subscribe();
        loop {
            ended.borrow_and_update();
            let (hub, run) = (self.clone(), id.clone());
            let view = blocking(move || hub.run_view(&run)).await?;
            let runs = view.state == State::Running;
            if !runs || tokio::time::timeout_at(deadline, ended.changed()).await.is_err() {
                return serde_json::to_value(view).map_err(Error::internal);
            }
        }
    }
}
