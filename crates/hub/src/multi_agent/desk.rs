//! Begins, stops, resumes and shows runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loom_capabilities::{Chain, TurnOrder, TurnPlan, chain_file, is_chain_held, read_chain};
use loom_domain::{Code, Error, OperationId, Principal, Result};
use loom_secrets::private_file::ensure_private_dir;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::file::{MultiAgentFile, refused};
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
/// Rows of one answer.
const ROWS_MAX: usize = 1_000;
/// How often a caller that waits looks at a run.
const LOOK: Duration = Duration::from_millis(200);

/// How a live run is asked to stop.
#[derive(Default)]
pub(crate) struct Live(Mutex<HashMap<String, watch::Sender<Option<Duration>>>>);

impl Live {
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, watch::Sender<Option<Duration>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes up every run that was open when the hub went, and closes those that were to stop.
pub(crate) fn resume_all(hub: &Hub) {
    for id in ids(hub) {
        if let Err(error) = take_up(hub, &id) {
            tracing::warn!("the run {id} was not taken up: {error}");
        }
    }
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
        None => start(hub, id, journal),
    }
}

fn start(hub: &Hub, id: &OperationId, journal: Chain<RunEvent>) -> Result<()> {
    let (tell, told) = mpsc::channel(REPORTS_MAX);
    let (ask, asked) = watch::channel(None);
    let (_, _, agents) = begun(journal.rows())?;
    hub.inner.reports.take(id.as_str(), agents.iter(), &tell)?;
    hub.inner.loops.all().insert(id.to_string(), ask);
    let scheduler = Scheduler::new(hub.clone(), journal)?;
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
        if let Err(error) = ended {
            tracing::warn!("the run {id} stopped before its end: {error}");
        }
    });
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
    ids.truncate(RUNS_MAX);
    ids
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
        ensure_private_dir(&folder(self))?;
        let id = OperationId::new(self.now().0, (self.inner.parts.entropy)());
        let mut journal = Chain::create(&path(self, &id))?;
        let (run_id, file) = (id.to_string(), Box::new(file));
        let started = RunEvent::Started { run_id, file, agents };
        journal.append(self.now(), started)?;
        if let Err(error) = start(self, &id, journal) {
            // It never ran; nobody shall take it up.
            drop(std::fs::remove_file(path(self, &id)));
            return Err(error);
        }
        self.multi_agent(&id)
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
            let plan = Box::pin(self.plan_turn(who, &mut order)).await?;
            let agent = order.agent.unwrap_or_default();
            let runtime = plan.agent.and_then(|agent| agent.runtime).unwrap_or_default();
            if lane.runtime.as_ref().is_some_and(|wanted| *wanted != runtime) {
                let why = format!("the Agent of {} runs on {runtime}", lane.id);
                return Err(refused(&format!("/lanes/{n}/runtime"), &why));
            }
            if !seen.insert(agent.clone()) {
                return Err(refused(&format!("/lanes/{n}/agent"), "each lane has an Agent of its own"));
            }
            let order = TurnOrder { agent: Some(agent.clone()), ..order };
            Box::pin(TurnPlan::make(&self.world(), &catalog, &order)).await?.require_reads()?;
            agents.insert(lane.id.clone(), agent);
        }
        Ok(agents)
    }

    /// What is known of a run.
    pub fn multi_agent(&self, id: &OperationId) -> Result<Value> {
        serde_json::to_value(self.run_view(id)?).map_err(Error::internal)
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
    pub fn list_multi_agent(&self) -> Vec<RunView> {
        ids(self).iter().filter_map(|id| self.run_view(id).ok()).collect()
    }

    /// Rows of a run behind a place, of one lane if wanted.
    pub fn multi_agent_rows(&self, id: &OperationId, since: u64, lane: Option<&str>) -> Result<Value> {
        let rows: Vec<Value> = self.run_rows(id)?.iter().map(|row| json!(row)).collect();
        let is_wanted = |row: &&Value| {
            row.get("seq").and_then(Value::as_u64).is_some_and(|seq| seq >= since)
                && lane.is_none_or(|lane| row.get("lane").is_some_and(|own| own == lane))
        };
        let items: Vec<&Value> = rows.iter().filter(is_wanted).take(ROWS_MAX).collect();
        Ok(json!({"schema_version": "loom.multi_agent_log/v1", "items": items, "nextCursor": null}))
    }

    /// Asks a run to stop: nothing new begins, and what runs is stopped behind the grace.
    pub fn stop_multi_agent(&self, who: &Principal, id: &OperationId, grace: Duration) -> Result<Value> {
        who.require_owner()?;
        if grace > GRACE_MAX {
            return Err(Error::invalid("grace", "at most ten minutes"));
        }
        let live = self.inner.loops.all().get(id.as_str()).cloned();
        match live {
            Some(ask) => drop(ask.send_replace(Some(grace))),
            None if self.run_view(id)?.state == State::Interrupted => {
                close(self, Chain::open(&path(self, id))?)?;
            }
            None => {}
        }
        self.multi_agent(id)
    }

    /// Goes on with a run that was stopped, or that no hub works on. Another end is an end.
    pub fn resume_multi_agent(&self, who: &Principal, id: &OperationId) -> Result<Value> {
        who.require_owner()?;
        self.takes_work()?;
        let rows = self.run_rows(id)?;
        let (_, file, _) = begun(&rows)?;
        let ended = super::decide::Progress::of(file, &rows).stopped.map(|(reason, _)| reason);
        let is_live = self.inner.loops.all().contains_key(id.as_str());
        if is_live || ended.is_some_and(|reason| reason != StopReason::Stopped) {
            return self.multi_agent(id);
        }
        let mut journal = Chain::open(&path(self, id))?;
        journal.append(self.now(), RunEvent::Resumed)?;
        start(self, id, journal)?;
        self.multi_agent(id)
    }

    /// Waits until a run is over, at most so long.
    pub async fn wait_multi_agent(&self, id: &OperationId, wait: Duration) -> Result<Value> {
        let deadline = Instant::now() + wait;
        while self.run_view(id)?.state == State::Running && Instant::now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
        self.multi_agent(id)
    }
}
