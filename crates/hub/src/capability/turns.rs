//! Begins, resumes, stops and shows Turns.

use std::sync::Arc;
use std::time::Duration;

use loom_capabilities::{
    Begun, Catalog, Engine, Journal, JournalRow, TurnObserver, TurnOrder, TurnPlan, TurnRoom, TurnState,
    TurnView,
};
use loom_domain::{Code, Error, Principal, Result, TurnId};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::agents::Agents;
use crate::hub::Hub;

/// Time between two looks at a journal that is awaited.
const LOOK: Duration = Duration::from_secs(1);

/// Tells of each row.
struct Told(watch::Sender<u64>);

impl TurnObserver for Told {
    fn row(&mut self, _: &JournalRow) {
        self.0.send_modify(|moved| *moved = moved.wrapping_add(1));
    }
}

/// What came of asking for a Turn.
#[derive(Debug, Clone)]
pub enum Asked {
    /// The plan of one that does not run.
    Plan(Box<TurnPlan>),
    /// The Turn as it is now.
    Turn(Box<TurnView>),
}

impl Hub {
    /// The plan of a Turn, with the Agent as the hub knows it.
    pub async fn plan_turn(&self, who: &Principal, order: &mut TurnOrder) -> Result<TurnPlan> {
        let catalog = self.catalog().await?;
        Box::pin(self.plan_turn_of(&catalog, who, order)).await
    }

    /// The same, over a catalog that was read.
    pub(crate) async fn plan_turn_of(
        &self,
        catalog: &Catalog,
        who: &Principal,
        order: &mut TurnOrder,
    ) -> Result<TurnPlan> {
        who.require_owner()?;
        let mut runtime = None;
        if let Some(name) = order.agent.take() {
            let agent = self.store().agent_by(name).await?;
            if agent.archived_at.is_some() {
                return Err(Error::new(Code::Archived, format!("the agent {} is archived", agent.name)));
            }
            runtime = Some(agent.runtime.kind.to_string());
            order.agent = Some(agent.id.to_string());
        }
        let mut plan = Box::pin(TurnPlan::make(&self.world(), catalog, order)).await?;
        if let Some(agent) = &mut plan.agent {
            agent.runtime = runtime;
        }
        Ok(plan)
    }

    /// Begins a Turn, or finds the one that has its key, and waits for its end at most `wait`.
    pub async fn begin_turn(
        &self,
        who: Principal,
        mut order: TurnOrder,
        dry_run: bool,
        wait: Duration,
    ) -> Result<Asked> {
        let plan = self.plan_turn(&who, &mut order).await?;
        if dry_run {
            return Ok(Asked::Plan(Box::new(plan)));
        }
        self.takes_work()?;
        let (room, world) = (self.turn_room(), self.world());
        let id = match room.beside(move |room| room.begin(&world, &order, &plan)).await? {
            Begun::New(id, journal) => {
                self.run_turn(id.clone(), *journal);
                id
            }
            Begun::Known(id) => id,
        };
        Ok(Asked::Turn(Box::new(self.wait_turn(&id, wait).await?)))
    }

    /// Goes on with a Turn.
    pub async fn resume_turn(&self, who: Principal, id: TurnId, wait: Duration) -> Result<TurnView> {
        who.require_owner()?;
        self.takes_work()?;
        let room = self.turn_room();
        let asked = id.clone();
        let open = move |room: &TurnRoom| match room.view(&asked)?.state.is_final() {
            true => Ok(None),
            false => room.take(&asked).map(Some),
        };
        if let Some(journal) = room.beside(open).await? {
            self.run_turn(id.clone(), journal);
        }
        self.wait_turn(&id, wait).await
    }

    /// Asks whoever works on a Turn to stop, this hub or another process.
    pub async fn cancel_turn(&self, who: &Principal, id: TurnId) -> Result<TurnView> {
        who.require_owner()?;
        self.turn_room().beside(move |room| room.stop(&id)).await
    }

    /// A Turn with its payloads and, if wanted, its journal.
    pub async fn turn_document(&self, id: TurnId, with_journal: bool) -> Result<Value> {
        self.turn_room().beside(move |room| document(room, &id, with_journal)).await
    }

    /// The newest Turns.
    pub async fn list_turns(&self, most: usize) -> Result<Vec<TurnView>> {
        self.turn_room().beside(move |room| Ok(room.list(most))).await
    }

    /// The rows of a Turn, and whether nobody works on it. Behind a place it waits until one of both changes.
    pub async fn turn_news(&self, id: &TurnId, behind: Option<u64>) -> Result<(Vec<JournalRow>, bool)> {
        let room = self.turn_room();
        let mut moved = self.inner.capability.moved.subscribe();
        let mut ended = self.inner.capability.ended.subscribe();
        loop {
            moved.borrow_and_update();
            ended.borrow_and_update();
            let asked = id.clone();
            let news = move |room: &TurnRoom| {
                let state = room.view(&asked)?.state;
                let is_over = !matches!(state, TurnState::Starting | TurnState::Running);
                Ok((room.rows(&asked)?, is_over))
            };
            let (rows, is_over) = room.beside(news).await?;
            if is_over || behind.is_none_or(|behind| (rows.len() as u64) > behind) {
                return Ok((rows, is_over));
            }
            tokio::select! {
                _ = moved.changed() => {}
                _ = ended.changed() => {}
                // Another process may have the journal.
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Runs a Turn whose journal is in hand, as a task of the hub.
    fn run_turn(&self, id: TurnId, journal: Journal) {
        let hub = self.clone();
        self.inner.tasks.own(async move {
            let ran = Box::pin(hub.turn_to_its_end(&id, journal)).await;
            if let Err(error) = ran {
                tracing::warn!("{id} stopped before its end: {error}");
            }
        });
    }

    /// Runs a Turn. When the hub ends first, the Turn stays as it is, and can be resumed.
    pub(crate) async fn turn_to_its_end(&self, id: &TurnId, journal: Journal) -> Result<TurnView> {
        let draining = || Error::new(Code::HubDraining, "the hub is shutting down");
        let work = async {
            let _place = self.inner.capability.places.acquire().await.map_err(Error::internal)?;
            let (room, catalog) = (self.turn_room(), self.catalog().await?);
            let mut told = Told(self.inner.capability.moved.clone());
            let mut engine = Engine {
                world: self.world(),
                catalog: &catalog,
                agents: Some(Arc::new(Agents(self.clone()))),
                observer: &mut told,
            };
            Ok(engine.run(&room, id, journal).await?.turn)
        };
        let ran = tokio::select! {
            biased;
            () = self.inner.stop.cancelled() => Err(draining()),
            ran = Box::pin(work) => ran,
        };
        self.inner.capability.ended.send_modify(|ended| *ended = ended.wrapping_add(1));
        ran
    }

    pub(crate) async fn wait_turn(&self, id: &TurnId, wait: Duration) -> Result<TurnView> {
        let (deadline, room) = (Instant::now() + wait, self.turn_room());
        let mut ended = self.inner.capability.ended.subscribe();
        loop {
            ended.borrow_and_update();
            let asked = id.clone();
            let view = room.beside(move |room| room.view(&asked)).await?;
            let runs = matches!(view.state, TurnState::Starting | TurnState::Running);
            if !runs || tokio::time::timeout_at(deadline, ended.changed()).await.is_err() {
                return Ok(view);
            }
        }
    }
}

fn document(room: &TurnRoom, id: &TurnId, with_journal: bool) -> Result<Value> {
    let view = room.view(id)?;
    let ids = view.connectors.iter().filter_map(|one| one.payload_id.as_deref());
    // Payloads are removed with time; the Turn still names them.
    let payloads: Vec<Value> = ids.filter_map(|id| room.payloads().show(id).ok()).collect();
    let mut document = serde_json::to_value(&view).map_err(Error::internal)?;
    if let Some(members) = document.as_object_mut() {
        members.insert("payloads".to_owned(), json!(payloads));
        if with_journal {
            members.insert("journal".to_owned(), json!(room.rows(id)?));
        }
    }
    Ok(document)
}
