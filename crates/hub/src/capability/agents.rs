//! An Agent's run inside a Turn: one Inbox item whose id follows from the Turn's, so that it is put there once.

use async_trait::async_trait;
use loom_api::request;
use loom_capabilities::{AgentCall, AgentEnd, AgentState, AgentStep};
use loom_domain::{
    Code, Error, InboxId, Principal, Result, TurnId,
    inbox::{Item, State},
};
use loom_store::{Topic, ops::inbox::ThreadText};
use serde_json::Value;

use crate::hub::Hub;

/// Runs Agents by the hub's own queue.
pub(super) struct Agents(pub(super) Hub);

#[async_trait]
impl AgentStep for Agents {
    async fn run(&self, call: AgentCall) -> Result<AgentEnd> {
        let hub = &self.0;
        let id = item_id(&call.key)?;
        let text = ThreadText { text: hub.stored_text(&call.text), files: Vec::new(), id: Some(id) };
        let mut item = hub.store().thread_input(hub.act(Principal::Owner), call.agent, text).await?;
        let mut wakes = hub.store().watch(Topic::Feed);
        let mut asked_to_stop = false;
        while !is_settled(item.state) {
            wakes.borrow_and_update();
            item = hub.store().inbox_item(item.id).await?;
            if is_settled(item.state) {
                break;
            }
            tokio::select! {
                changed = wakes.changed() => if changed.is_err() {
                    return Err(Error::new(Code::HubDraining, "the hub is shutting down"));
                },
                () = call.cancel.cancelled(), if !asked_to_stop => {
                    asked_to_stop = true;
                    cancel(hub, &item).await;
                }
            }
        }
        end_of(hub, item).await
    }
}

/// `inb_` with the rest of the Turn's id: one Turn, one item.
fn item_id(turn: &str) -> Result<InboxId> {
    let rest = turn.strip_prefix(TurnId::PREFIX).unwrap_or_default();
    format!("{}{rest}", InboxId::PREFIX).parse()
}

fn is_settled(state: State) -> bool {
    state.is_final() || matches!(state, State::Failed | State::Interrupted | State::NeedsDecision)
}

async fn cancel(hub: &Hub, item: &Item) {
    let why = request::Cancel { reason: Some("its Turn was cancelled".to_owned()), block: false };
    if let Err(error) = hub.store().cancel_item(hub.act(Principal::Owner), item.id.clone(), why).await {
        tracing::warn!("{} could not be cancelled: {error}", item.id);
    }
}

async fn end_of(hub: &Hub, item: Item) -> Result<AgentEnd> {
    let turn = match &item.turn_id {
        Some(turn) => Some(hub.store().turn(Principal::Owner, turn.clone()).await?.turn),
        None => None,
    };
    let failed = |why: &str| Error::new(Code::InvalidState, format!("the Agent's run {why}"));
    let (state, error) = match item.state {
        State::Handled => (AgentState::Done, None),
        State::Interrupted => {
            let hint = format!("loom inbox get {}", item.id);
            let why = Error::new(Code::OutcomeUnknown, "nobody knows what became of the Agent's run");
            (AgentState::Lost, Some(why.with_hint(hint)))
        }
        State::Cancelled => (AgentState::Failed, Some(Error::new(Code::Cancelled, "the run was cancelled"))),
        State::NeedsDecision => (AgentState::Failed, Some(failed("gave no answer"))),
        state => (AgentState::Failed, Some(failed(&format!("ended as {state}")))),
    };
    Ok(AgentEnd {
        state,
        item_id: Some(item.id.to_string()),
        agent_turn_id: item.turn_id.as_ref().map(ToString::to_string),
        answer: turn.as_ref().and_then(|turn| turn.answer.clone()),
        tokens: turn.as_ref().and_then(|turn| tokens(&turn.usage)),
        outbox_items: item.outbox_ids.iter().map(ToString::to_string).collect(),
        error,
    })
}

/// Tokens of a run, where its runtime tells them.
fn tokens(usage: &Value) -> Option<u64> {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64);
    Some(number("input_tokens")? + number("output_tokens").unwrap_or(0))
}
