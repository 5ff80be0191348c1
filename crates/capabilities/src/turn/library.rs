//! Turns in a program of one's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Error, Principal, Result, TurnId};
use loom_transport::Transport;
use serde_json::Value;

use super::engine::{Engine, Ran};
use super::memory::Rows;
use super::order::{OnError, TurnCall, TurnOrder};
use super::plan::TurnPlan;
use super::room::{TurnRoom, planned};
use crate::{Catalog, NoObserver, PayloadStore, World};

const NOTHING: &Value = &Value::Null;

/// A Turn of connectors.
#[derive(Debug, Clone)]
pub struct Turn {
    world: World,
    catalog: Catalog,
    order: TurnOrder,
    home: Option<PathBuf>,
    payloads: Vec<Value>,
}

/// What a Turn gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnOutcome {
    turn_id: String,
    payloads: Vec<Value>,
}

/// Says what a Turn works with.
#[derive(Debug, Clone)]
pub struct TurnBuilder(Turn);

impl Default for Turn {
    fn default() -> Self {
        Turn::new()
    }
}

impl TurnBuilder {
    /// Sends over this transport.
    pub fn transport(mut self, transport: Transport) -> Self {
        self.0.world.door = Arc::new(move |_, _| Ok(transport.clone()));
        self
    }

    /// Keeps a journal and payloads below this home; a Turn without a home keeps nothing.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.0.home = Some(home.into());
        self
    }

    /// Asks as somebody else than the owner.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.0.world.principal = principal;
        self
    }

    /// Runs an Agent behind the connectors; that needs a hub, and a program of one's own has none.
    pub fn agent(mut self, agent: &str, prompt: &str) -> Self {
        self.0.order.agent = Some(agent.to_owned());
        self.0.order.prompt = Some(prompt.to_owned());
        self
    }

    /// Names the host that the Turn is planned for.
    pub fn host(mut self, host: &str) -> Self {
        self.0.order.host = Some(host.to_owned());
        self
    }

    /// Limits the whole Turn, 1 second to 24 hours; 10 minutes by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.0.order.deadline_seconds = Some(deadline.as_secs());
        self
    }

    /// Names the Turn: below one home, the same key is the same Turn.
    pub fn turn_key(mut self, key: &str) -> Self {
        self.0.order.turn_key = Some(key.to_owned());
        self
    }

    /// Says whose trust its content has.
    pub fn trust_domain(mut self, domain: &str) -> Self {
        domain.clone_into(&mut self.0.order.trust_domain);
        self
    }

    /// The Turn, still without connectors.
    pub fn build(self) -> Turn {
        self.0
    }
}

impl Turn {
    /// A Turn of the owner, over the network, with the environment of this process; it keeps nothing.
    pub fn new() -> Self {
        Turn::over(World::of_process())
    }

    /// A Turn that works with something else than this process has.
    pub fn builder() -> TurnBuilder {
        TurnBuilder(Turn::new())
    }

    /// A Turn in a world of its own: what tests and embedders use.
    pub fn over(world: World) -> Self {
        Turn { world, catalog: Catalog::builtin(), order: TurnOrder::new(), home: None, payloads: Vec::new() }
    }

    /// Uses another catalog.
    pub fn catalog(&mut self, catalog: Catalog) -> &mut Self {
        self.catalog = catalog;
        self
    }

    /// Adds a connector; aliases and both spellings are taken.
    pub fn add_connector(&mut self, id: &str) -> &mut Self {
        self.order.connectors.push(TurnCall::of(id));
        self
    }

    /// Sets the input of the connector that was added last.
    pub fn input(&mut self, input: Value) -> &mut Self {
        if let Some(call) = self.order.connectors.last_mut() {
            call.input = input;
        }
        self
    }

    /// Sets the operation of the connector that was added last.
    pub fn operation(&mut self, operation: &str) -> &mut Self {
        if let Some(call) = self.order.connectors.last_mut() {
            operation.clone_into(&mut call.operation);
        }
        self
    }

    /// Says what happens behind a connector that failed.
    pub fn on_error(&mut self, on_error: OnError) -> &mut Self {
        self.order.on_error = on_error;
        self
    }

    /// The plan; nothing runs. Every id is looked up before anything else.
    pub async fn plan_async(&self) -> Result<TurnPlan> {
        TurnPlan::make(&self.world, &self.catalog, &self.order).await
    }

    /// The plan, on a runtime of its own. Inside a runtime use [`Turn::plan_async`].
    pub fn plan(&self) -> Result<TurnPlan> {
        alone()?.block_on(self.plan_async())
    }

    /// Runs on a runtime of its own. Inside a runtime use [`Turn::run_async`].
    pub fn run(&mut self) -> Result<TurnOutcome> {
        alone()?.block_on(self.run_async())
    }

    /// Runs the connectors in order.
    pub async fn run_async(&mut self) -> Result<TurnOutcome> {
        self.payloads.clear();
        let observer = &mut NoObserver;
        let mut engine = Engine { world: self.world.clone(), catalog: &self.catalog, agents: None, observer };
        let Ran { turn, payloads } = match &self.home {
            Some(home) => {
                let room = TurnRoom::new(home, PayloadStore::new(home));
                engine.begin(&room, self.order.clone()).await?
            }
            None => in_memory(&mut engine, &self.order).await?,
        };
        self.payloads.clone_from(&payloads);
        Ok(TurnOutcome { turn_id: turn.turn_id, payloads })
    }

    /// The first connector's payload; JSON null before the run.
    pub fn payload(&self) -> &Value {
        self.payloads.first().unwrap_or(NOTHING)
    }

    /// The same as [`Turn::payload`].
    pub fn get_payload(&self) -> &Value {
        self.payload()
    }

    /// All payloads, in order.
    pub fn payloads(&self) -> &[Value] {
        &self.payloads
    }

    /// The payload of a connector by its id.
    pub fn payload_of(&self, id: &str) -> &Value {
        of(&self.payloads, id)
    }
}

impl TurnOutcome {
    /// Id of the Turn.
    pub fn turn_id(&self) -> &str {
        &self.turn_id
    }

    /// The first connector's payload.
    pub fn payload(&self) -> &Value {
        self.payloads.first().unwrap_or(NOTHING)
    }

    /// The same as [`TurnOutcome::payload`].
    pub fn get_payload(&self) -> &Value {
        self.payload()
    }

    /// All payloads, in order.
    pub fn payloads(&self) -> &[Value] {
        &self.payloads
    }

    /// The payload of a connector by its id.
    pub fn payload_of(&self, id: &str) -> &Value {
        of(&self.payloads, id)
    }
}

async fn in_memory(engine: &mut Engine<'_>, order: &TurnOrder) -> Result<Ran> {
    let order = order.clone().checked(engine.catalog)?;
    let plan = TurnPlan::make(&engine.world, engine.catalog, &order).await?;
    plan.require_reads()?;
    let id = TurnId::new(engine.world.clock.now().0, engine.world.entropy.bits());
    let mut rows = Rows::Memory(Vec::new());
    rows.append(engine.world.clock.now(), planned(&engine.world, &id, &order, &plan)).await?;
    engine.go(&mut rows, &id, None, None).await
}

fn alone() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::internal)
}

fn of<'a>(payloads: &'a [Value], id: &str) -> &'a Value {
    let id = crate::catalog::folded(id);
    payloads
        .iter()
        .find(|payload| payload.get("connector_id").is_some_and(|own| *own == id))
        .unwrap_or(NOTHING)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loom_domain::Code;
    use loom_transport::MockBackend;

    use super::*;

    /// CAP-125: a Turn without input needs neither network nor hub.
    #[test]
    fn cap_125_a_turn_runs_a_connector_without_input() {
        let backend = Arc::new(MockBackend::new());
        let mut turn = Turn::over(World::over(backend.clone()));
        turn.add_connector("github-public-channel");
        assert!(turn.payload().is_null());
        let outcome = turn.run().unwrap();
        assert_eq!(turn.payload()["connector_id"], "github_public_probe");
        assert_eq!(outcome.payload_of("github-public-probe")["ok"], true);
        assert!(backend.seen().is_empty());
        let id = Turn::over(World::over(backend))
            .add_connector("github_public_probe")
            .run()
            .unwrap()
            .payload()["connector_id"]
            .clone();
        assert_eq!(id, "github_public_probe");
    }

    /// CAP-011: an unknown id fails before anything ran.
    #[test]
    fn cap_011_an_unknown_connector_runs_nothing() {
        let mut turn = Turn::over(World::over(Arc::new(MockBackend::new())));
        turn.add_connector("github_public_probe").add_connector("github_public_prob");
        assert_eq!(turn.run().unwrap_err().code, Code::ConnectorNotFound);
        assert!(turn.payloads().is_empty());
    }
}
