//! Questions to the decision function. Nothing is written.

use loom_api::{
    request::PolicyExplain,
    view::{Judged, PolicyExplanation, PolicyReplayResult, PolicyStep, ReplayChange},
};
use loom_domain::{
    Address, AddressId, AgentId, Connection, ConversationType, Error, EventId, Expectation, InboundEvent,
    Membership, Result, TextFormat, Timestamp,
    decision::{self, Counters, DecisionInput, Judgement, Known, Limits, StepTrace},
    message::{Content, ConversationRef, Decision, EventKind, Evidence, Mention, Sender, SenderKind},
};

use super::{inbound, inbox};
use crate::{Store, Tx, docs, params, records::StoredEvent};

/// Events judged in one replay.
const REPLAY_MAX: i64 = 10_000;
const REPLAY_PAGE: i64 = 500;

/// Records to judge under in place of the stored ones with the same id.
#[derive(Debug, Clone, Default)]
pub struct PolicyDraft {
    /// Connections.
    pub connections: Vec<Connection>,
    /// Addresses.
    pub addresses: Vec<Address>,
    /// Memberships; a new one is found by its Address and conversation.
    pub memberships: Vec<Membership>,
}

impl PolicyDraft {
    fn is_empty(&self) -> bool {
        self.connections.is_empty() && self.addresses.is_empty() && self.memberships.is_empty()
    }

    fn membership(
        &self,
        stored: Option<Membership>,
        address: &AddressId,
        conversation: &str,
    ) -> Option<Membership> {
        let drafted =
            self.memberships.iter().find(|m| m.address_id == *address && m.conversation_id == conversation);
        drafted.cloned().or(stored)
    }
}

impl Store {
    /// How a message would be judged, step by step.
    pub async fn explain(
        &self,
        request: PolicyExplain,
        draft: PolicyDraft,
        now: Timestamp,
    ) -> Result<PolicyExplanation> {
        self.read(move |tx| match &request.id {
            Some(id) => {
                let stored = find_event(tx, id)?;
                explain_event(tx, &stored, &draft)
            }
            None => explain_made_up(tx, &request, &draft, now),
        })
        .await
    }

    /// Judges stored Events under a draft; gives the decisions that change.
    pub async fn replay_policy(
        &self,
        since: Timestamp,
        agent: Option<AgentId>,
        draft: PolicyDraft,
    ) -> Result<PolicyReplayResult> {
        self.read(move |tx| replay(tx, since, agent.as_ref(), &draft)).await
    }
}

/// Steps in the form of the API.
pub(crate) fn steps(trace: &[StepTrace]) -> Vec<PolicyStep> {
    trace
        .iter()
        .map(|step| PolicyStep {
            step: step.step.to_owned(),
            condition: step.condition.to_owned(),
            value: step.value.clone(),
            result: step.result.to_owned(),
        })
        .collect()
}

fn explanation(judgement: &Judgement) -> PolicyExplanation {
    PolicyExplanation {
        decision: judgement.decision,
        reason: judgement.reason,
        step: judgement.step.to_owned(),
        steps: steps(&judgement.trace),
    }
}

fn find_event(tx: &mut dyn Tx, id: &str) -> Result<StoredEvent> {
    if id.starts_with(EventId::PREFIX) {
        let id: EventId = id.parse()?;
        return docs::require(tx, id.as_str());
    }
    let item = inbox::find_item(tx, id)?;
    let message = docs::require(tx, item.item.message_id.as_str())?;
    inbox::event_of_message(tx, &message, item.item.address_id.as_ref())?
        .ok_or_else(|| Error::not_found("platform event of", id))
}

/// A stored Event under present policy, or under a draft. Without a change of policy the answer is the stored one.
pub(crate) fn explain_event(
    tx: &mut dyn Tx,
    stored: &StoredEvent,
    draft: &PolicyDraft,
) -> Result<PolicyExplanation> {
    let event = &stored.event;
    let judgement = judge_stored(tx, stored, draft)?;
    let is_same_policy = draft.is_empty() && judgement.policy_version == event.policy_version;
    if is_same_policy && !stored.trace.is_empty() {
        return Ok(PolicyExplanation {
            decision: event.decision,
            reason: event.reason,
            step: event.step.clone(),
            steps: stored.trace.clone(),
        });
    }
    Ok(explanation(&judgement))
}

/// Judges a stored Event as of its arrival. What was counted then is not known any more and counts as nothing.
fn judge_stored(tx: &mut dyn Tx, stored: &StoredEvent, draft: &PolicyDraft) -> Result<Judgement> {
    let event = &stored.event;
    let connection: Connection = docs::require(tx, event.connection_id.as_str())?;
    let address: Option<Address> = match &event.address_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let mut inbound = event.inbound.clone();
    if inbound.content.text.is_empty() && event.step != "18" {
        // The text was dropped with the refusal; it had passed as not empty.
        "…".clone_into(&mut inbound.content.text);
    }
    let place = Place { connection, address };
    judge(tx, place, &inbound, Some(stored.evidence), draft, event.received_at)
}

struct Place {
    connection: Connection,
    address: Option<Address>,
}

fn judge(
    tx: &mut dyn Tx,
    place: Place,
    event: &InboundEvent,
    evidence: Option<Evidence>,
    draft: &PolicyDraft,
    now: Timestamp,
) -> Result<Judgement> {
    let Place { connection, address } = place;
    let connection = draft.connections.iter().find(|c| c.id == connection.id).cloned().unwrap_or(connection);
    let address =
        address.map(|stored| draft.addresses.iter().find(|a| a.id == stored.id).cloned().unwrap_or(stored));
    let conversation = event.conversation.conversation_id.as_str();
    let context = match &address {
        Some(address) => Some(inbound::context_of(tx, address, conversation)?),
        None => None,
    };
    let agent_archived = context.as_ref().is_some_and(|context| context.agent_archived);
    let stored = context.and_then(|context| context.membership);
    let membership = match &address {
        Some(address) => draft.membership(stored, &address.id, conversation),
        None => None,
    };
    let input = DecisionInput {
        event,
        connection: &connection,
        address: address.as_ref(),
        agent_archived,
        membership: membership.as_ref(),
        own_ids: &[],
        known: Known::New,
        counters: Counters::default(),
        now,
        limits: Limits::default(),
    };
    // Stored evidence stands: the event's own marks may have been dropped since.
    let fresh = decision::decide(&input);
    Ok(match evidence {
        Some(evidence) if fresh.evidence != evidence && fresh.decision != Decision::Fact => {
            decision::rejudge(&input, evidence)
        }
        _ => fresh,
    })
}

fn explain_made_up(
    tx: &mut dyn Tx,
    request: &PolicyExplain,
    draft: &PolicyDraft,
    now: Timestamp,
) -> Result<PolicyExplanation> {
    let missing =
        |field: &str| Error::new(loom_domain::Code::MissingField, format!("{field} is needed without an id"));
    let address: AddressId = request.address.as_deref().ok_or_else(|| missing("address"))?.parse()?;
    let address: Address = docs::require(tx, address.as_str())?;
    let connection: Connection = docs::require(tx, address.connection_id.as_str())?;
    let conversation = request.conversation.as_deref().ok_or_else(|| missing("conversation"))?;
    let actor = request.actor.as_deref().ok_or_else(|| missing("actor"))?;
    let event = made_up(request, conversation, actor, &address, now);
    let judgement = judge(tx, Place { connection, address: Some(address) }, &event, None, draft, now)?;
    Ok(explanation(&judgement))
}

fn made_up(
    request: &PolicyExplain,
    conversation: &str,
    actor: &str,
    address: &Address,
    now: Timestamp,
) -> InboundEvent {
    let kind = request.conversation_type.or(request.direct.then_some(ConversationType::Dm));
    let mention = Mention { external_id: address.native_identity().to_owned(), display_name: None };
    InboundEvent {
        event_id: "explain".to_owned(),
        kind: EventKind::Message,
        occurred_at: Some(now),
        conversation: ConversationRef {
            conversation_id: conversation.to_owned(),
            thread_id: request.thread.clone(),
            message_id: Some("explain".to_owned()),
            conversation_type: kind,
            platform_type: None,
        },
        parent_type: None,
        sender: Some(Sender {
            external_id: actor.to_owned(),
            display_name: None,
            kind: if request.bot { SenderKind::Bot } else { SenderKind::Human },
        }),
        content: Content {
            text: if request.no_text { String::new() } else { "…".to_owned() },
            format: TextFormat::Plain,
            truncated: false,
            attachments: Vec::new(),
        },
        mentions: if request.mentioned { vec![mention] } else { Vec::new() },
        dispatch: request.dispatch,
        reply_expected: Expectation::Optional,
        target_message_id: None,
        message_key: None,
        bare_mention: false,
        thread_context: None,
        fact: None,
        cursor: None,
        raw: serde_json::Value::Null,
    }
}

fn replay(
    tx: &mut dyn Tx,
    since: Timestamp,
    agent: Option<&AgentId>,
    draft: &PolicyDraft,
) -> Result<PolicyReplayResult> {
    let mut result = PolicyReplayResult { items: Vec::new(), judged: 0 };
    let (mut above, mut left) = (0, REPLAY_MAX);
    while left > 0 {
        let events: Vec<StoredEvent> = docs::select(
            tx,
            "received_at >= ?1 AND seq > ?2 AND (?3 = '' OR agent_id = ?3) ORDER BY seq LIMIT ?4",
            &params![since, above, agent.map_or("", AgentId::as_str), REPLAY_PAGE],
        )?;
        let Some(last) = events.last() else { break };
        above = i64::try_from(last.event.seq).unwrap_or(i64::MAX);
        left -= REPLAY_PAGE;
        for stored in &events {
            result.judged += 1;
            let after = explain_event(tx, stored, draft)?;
            let before = Judged { decision: stored.event.decision, reason: stored.event.reason };
            let after = Judged { decision: after.decision, reason: after.reason };
            if before != after {
                result.items.push(ReplayChange { event_id: stored.event.id.clone(), before, after });
            }
        }
    }
    Ok(result)
}
