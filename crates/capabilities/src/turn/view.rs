//! What is known of a Turn (`loom.turn/v1`), made of its journal alone.

use loom_domain::{Code, Error, Result, Timestamp};
use serde::{Deserialize, Serialize};

use super::order::TurnOrder;
use super::row::{AgentState, JournalRow, TurnEnd, TurnEvent};
use crate::Effects;

/// State of a Turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// It was asked for, and nobody works on it.
    Planned,
    /// A process has it and did not begin.
    Starting,
    /// A process works on it.
    Running,
    /// It waits for a decision.
    WaitingApproval,
    /// All of it was done.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped, or its process died; it can be resumed.
    Interrupted,
    /// Nobody knows what became of the Agent's run.
    Lost,
}

impl TurnState {
    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        matches!(self, TurnState::Completed | TurnState::Failed | TurnState::Lost)
    }
}

/// How far a connector is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorState {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    Running,
    /// Done.
    Done,
    /// Failed.
    Failed,
}

/// A connector of a Turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConnectorView {
    /// Id.
    pub connector_id: String,
    /// How far it is.
    pub state: ConnectorState,
    /// Its payload.
    pub payload_id: Option<String>,
    /// Whether it had a payload that could not be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub payload_lost: bool,
    /// What went wrong.
    #[schemars(with = "Option<serde_json::Value>")]
    pub error: Option<Box<Error>>,
}

/// The Agent of a Turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentView {
    /// Agent.
    pub id: String,
    /// How its run ended; null before.
    pub state: Option<AgentState>,
    /// Inbox item of its input.
    pub item_id: Option<String>,
    /// The hub's own record of the run.
    pub agent_turn_id: Option<String>,
    /// Final answer.
    pub answer: Option<String>,
    /// Tokens of its run, where they are known.
    pub tokens: Option<u64>,
    /// Messages of its run.
    pub outbox_items: Vec<String>,
    /// What went wrong.
    #[schemars(with = "Option<serde_json::Value>")]
    pub error: Option<Box<Error>>,
}

/// A Turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TurnView {
    /// `loom.turn/v1`.
    pub schema_version: String,
    /// Id.
    pub turn_id: String,
    /// Key.
    pub turn_key: Option<String>,
    /// `connectors`, or `agent`.
    pub kind: String,
    /// State.
    pub state: TurnState,
    /// Host it is planned for.
    pub host: Option<String>,
    /// When it was asked for.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// Newest row.
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    /// Connectors in order.
    pub connectors: Vec<ConnectorView>,
    /// Agent.
    pub agent: Option<AgentView>,
    /// Rows of its journal.
    pub rows: u64,
    /// Digest of its plan.
    pub plan_digest: String,
    /// Whose trust its content has.
    pub trust_domain: String,
    /// What it did to the outside.
    pub effects: Effects,
    /// Why it was stopped or failed.
    pub reason: Option<String>,
    /// What went wrong.
    #[schemars(with = "Option<serde_json::Value>")]
    pub error: Option<Box<Error>>,
}

impl TurnView {
    /// The view of a journal; `is_held` says whether a process works on it.
    pub fn of(rows: &[JournalRow], is_held: bool) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::new(Code::NotFound, "the journal has no row yet"));
        };
        let TurnEvent::Planned { turn_id, order, plan_digest, .. } = &first.body else {
            return Err(Error::new(Code::IntegrityError, "the journal does not begin with a plan"));
        };
        let mut view = TurnView::planned(turn_id, order, plan_digest, first.at);
        for row in rows.iter().skip(1) {
            view.take(&row.body);
            view.updated_at = row.at;
        }
        view.rows = rows.len() as u64;
        if !view.state.is_final() {
            view.state = match (rows.len(), is_held) {
                (1, false) => TurnState::Planned,
                (1, true) => TurnState::Starting,
                (_, true) => TurnState::Running,
                (_, false) => TurnState::Interrupted,
            };
        }
        view.effects.state_written = true;
        Ok(view)
    }

    fn planned(turn_id: &str, order: &TurnOrder, plan_digest: &str, at: Timestamp) -> Self {
        let pending = |call: &super::TurnCall| ConnectorView {
            connector_id: call.connector.clone(),
            ..ConnectorView::default()
        };
        let agent = order.agent.clone().map(|id| AgentView { id, ..AgentView::default() });
        TurnView {
            schema_version: "loom.turn/v1".to_owned(),
            turn_id: turn_id.to_owned(),
            turn_key: order.turn_key.clone(),
            kind: if agent.is_some() { "agent" } else { "connectors" }.to_owned(),
            state: TurnState::Planned,
            host: order.host.clone(),
            created_at: at,
            updated_at: at,
            connectors: order.connectors.iter().map(pending).collect(),
            agent,
            rows: 1,
            plan_digest: plan_digest.to_owned(),
            trust_domain: order.trust_domain.clone(),
            effects: Effects::default(),
            reason: None,
            error: None,
        }
    }

    fn take(&mut self, event: &TurnEvent) {
        self.reason = None;
        match event {
            TurnEvent::Planned { .. } => {}
            TurnEvent::ConnectorStarted { index, .. } => {
                if let Some(one) = self.connectors.get_mut(*index) {
                    one.state = ConnectorState::Running;
                }
            }
            TurnEvent::ConnectorDone { index, ok, payload_id, payload_lost, error, effects, .. } => {
                self.effects.add(*effects);
                if let Some(one) = self.connectors.get_mut(*index) {
                    one.state = if *ok { ConnectorState::Done } else { ConnectorState::Failed };
                    one.payload_id.clone_from(payload_id);
                    one.payload_lost = *payload_lost;
                    one.error.clone_from(error);
                }
            }
            TurnEvent::AgentStarted { agent_id, .. } => self.agent_mut().id.clone_from(agent_id),
            TurnEvent::AgentDone { state, item_id, agent_turn_id, answer, tokens, error } => {
                let agent = self.agent_mut();
                agent.state = Some(*state);
                agent.item_id.clone_from(item_id);
                agent.agent_turn_id.clone_from(agent_turn_id);
                agent.answer.clone_from(answer);
                agent.tokens = *tokens;
                agent.error.clone_from(error);
            }
            TurnEvent::OutboxItems { ids } => self.agent_mut().outbox_items.clone_from(ids),
            TurnEvent::Interrupted { reason } => self.reason = Some(reason.clone()),
            TurnEvent::Committed { end, error } => {
                self.error.clone_from(error);
                self.state = match end {
                    TurnEnd::Completed => TurnState::Completed,
                    TurnEnd::Failed => TurnState::Failed,
                    TurnEnd::Lost => TurnState::Lost,
                };
            }
        }
    }

    fn agent_mut(&mut self) -> &mut AgentView {
        self.agent.get_or_insert_with(AgentView::default)
    }
}
