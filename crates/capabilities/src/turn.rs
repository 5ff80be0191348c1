//! Turns: connectors in order, then at most one Agent, with a journal that says how far it came.
//!
//! A row is on disk before the step that it announces, so whoever goes on knows what was done: a read that came to its end
//! is not repeated, and an Agent's run is looked up by its key.

mod agent;
mod engine;
mod library;
mod memory;
mod order;
mod plan;
mod room;
mod row;
mod view;

pub use agent::{AgentCall, AgentEnd, AgentStep, BLOCKS_BYTES_MAX};
pub use engine::{Engine, Ran, TurnObserver};
pub use library::{Turn, TurnBuilder, TurnOutcome};
pub use order::{CONNECTORS_MAX, OnError, PROMPT_CHARS_MAX, TurnCall, TurnOrder};
pub use plan::{TurnPlan, TurnPlanAgent, TurnPlanConnector};
pub use room::{Begun, Journal, TURNS_LISTED_MAX, TurnRoom};
pub use row::{AgentState, JournalRow, TurnEnd, TurnEvent};
pub use view::{AgentView, ConnectorState, ConnectorView, TurnState, TurnView};

#[cfg(test)]
mod tests;
