//! A Turn of connectors in a program of one's own: they run in order, and each leaves its payload.
//!
//! It keeps no journal and starts no agent; Turns that do are the hub's.

use loom_domain::{Code, Error, Result};
use serde_json::Value;

use crate::{Catalog, NoObserver, RunPlan, RunRequest, World};

/// Most connectors of one Turn.
const CONNECTORS_MAX: usize = 16;
const NOTHING: &Value = &Value::Null;

/// What happens behind a connector that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The Turn ends.
    #[default]
    Stop,
    /// The next one runs.
    Continue,
}

#[derive(Debug, Clone)]
struct Call {
    id: String,
    request: RunRequest,
}

/// A Turn of connectors.
#[derive(Debug, Clone)]
pub struct Turn {
    world: World,
    catalog: Catalog,
    calls: Vec<Call>,
    on_error: OnError,
    payloads: Vec<Value>,
}

/// What a Turn gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnOutcome {
    payloads: Vec<Value>,
}

impl Default for Turn {
    fn default() -> Self {
        Turn::new()
    }
}

impl Turn {
    /// A Turn of the owner, over the network, with the environment of this process; it keeps nothing.
    pub fn new() -> Self {
        Turn::over(World::of_process())
    }

    /// A Turn in a world of its own: what tests and embedders use.
    pub fn over(world: World) -> Self {
        let (catalog, calls) = (Catalog::builtin(), Vec::new());
        Turn { world, catalog, calls, on_error: OnError::Stop, payloads: Vec::new() }
    }

    /// Uses another catalog.
    pub fn catalog(&mut self, catalog: Catalog) -> &mut Self {
        self.catalog = catalog;
        self
    }

    /// Adds a connector; aliases and both spellings are taken.
    pub fn add_connector(&mut self, id: &str) -> &mut Self {
        self.calls.push(Call { id: id.to_owned(), request: RunRequest::default() });
        self
    }

    /// Sets the input of the connector that was added last.
    pub fn input(&mut self, input: Value) -> &mut Self {
        if let Some(call) = self.calls.last_mut() {
            call.request.input = input;
        }
        self
    }

    /// Sets the operation of the connector that was added last.
    pub fn operation(&mut self, operation: &str) -> &mut Self {
        if let Some(call) = self.calls.last_mut() {
            operation.clone_into(&mut call.request.operation);
        }
        self
    }

    /// Says what happens behind a connector that failed.
    pub fn on_error(&mut self, on_error: OnError) -> &mut Self {
        self.on_error = on_error;
        self
    }

    /// The plans of all connectors; nothing runs. Every id is looked up before the first plan is made.
    pub fn plan(&self) -> Result<Vec<RunPlan>> {
        if self.calls.len() > CONNECTORS_MAX {
            return Err(Error::new(Code::InvalidInput, format!("more than {CONNECTORS_MAX} connectors")));
        }
        let connectors = self.calls.iter().map(|call| self.catalog.connector(&call.id));
        let connectors: Vec<_> = connectors.collect::<Result<_>>()?;
        let plans = connectors.iter().zip(&self.calls);
        plans.map(|(connector, call)| crate::plan(&self.world, &***connector, call.request.clone())).collect()
    }

    /// Runs on a runtime of its own. Inside a runtime use [`Turn::run_async`].
    pub fn run(&mut self) -> Result<TurnOutcome> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::internal)?;
        runtime.block_on(self.run_async())
    }

    /// Runs the connectors in order.
    pub async fn run_async(&mut self) -> Result<TurnOutcome> {
        self.plan()?;
        self.payloads.clear();
        for call in self.calls.clone() {
            let connector = self.catalog.connector(&call.id)?;
            let payload = crate::run(&self.world, &**connector, call.request, None, &mut NoObserver).await?;
            let failed = !payload.ok;
            self.payloads.push(serde_json::to_value(&payload).map_err(Error::internal)?);
            if failed && self.on_error == OnError::Stop {
                break;
            }
        }
        Ok(TurnOutcome { payloads: self.payloads.clone() })
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
