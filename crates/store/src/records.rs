//! Tables and index columns of every stored object.

use loom_domain::{
    Address, Agent, Artifact, Candidate, Connection, Event, HandlingAttempt, Membership, Message, Notice,
    OutboxItem, Part, SendAttempt, Turn, inbox, message::Decision, outbox, turn::TurnState,
};

use crate::{docs::Doc, tx::Value};

type Columns = Vec<(&'static str, Value)>;

fn text(value: Option<&str>) -> Value {
    Value::from(value.unwrap_or(""))
}

impl Doc for Agent {
    const TABLE: &'static str = "agents";
    const KIND: &'static str = "agent";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("name_key", self.name.to_ascii_lowercase().into()),
            ("archived", self.archived_at.is_some().into()),
        ]
    }
}

impl Doc for Connection {
    const TABLE: &'static str = "connections";
    const KIND: &'static str = "connection";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("provider", self.provider.as_str().into()),
            ("account_ref", self.account_ref.as_str().into()),
            ("scope_ref", text(self.scope_ref.as_deref())),
            ("archived", self.archived_at.is_some().into()),
        ]
    }
}

impl Doc for Address {
    const TABLE: &'static str = "addresses";
    const KIND: &'static str = "address";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("agent_id", self.agent_id.as_str().into()),
            ("connection_id", self.connection_id.as_str().into()),
            ("identity", self.external_identity.as_str().into()),
            ("archived", self.archived_at.is_some().into()),
            ("deleted", self.deleted_at.is_some().into()),
        ]
    }
}

impl Doc for Membership {
    const TABLE: &'static str = "memberships";
    const KIND: &'static str = "membership";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("address_id", self.address_id.as_str().into()),
            ("conversation_id", self.conversation_id.as_str().into()),
            ("kind", self.conversation_type.as_str().into()),
            ("enabled", self.enabled.into()),
            ("archived", self.archived_at.is_some().into()),
        ]
    }
}

impl Doc for Candidate {
    const TABLE: &'static str = "candidates";
    const KIND: &'static str = "candidate";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("address_id", self.address_id.as_str().into()),
            ("conversation_id", self.conversation_id.as_str().into()),
        ]
    }
}

/// An Event with the Agent of its Address, for lists.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredEvent {
    #[serde(flatten)]
    pub(crate) event: Event,
    #[serde(default, rename = "agentId")]
    pub(crate) agent_id: String,
    #[serde(default)]
    pub(crate) evidence: loom_domain::message::Evidence,
    /// Steps of the judgement, kept for refusals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<loom_api::view::PolicyStep>,
}

impl Doc for StoredEvent {
    const TABLE: &'static str = "events";
    const KIND: &'static str = "event";
    fn id(&self) -> &str {
        self.event.id.as_str()
    }
    fn columns(&self) -> Columns {
        let event = &self.event;
        let sender = event.inbound.sender.as_ref().map(|s| s.external_id.as_str());
        vec![
            ("seq", event.seq.into()),
            ("connection_id", event.connection_id.as_str().into()),
            ("address_id", text(event.address_id.as_ref().map(loom_domain::AddressId::as_str))),
            ("agent_id", self.agent_id.as_str().into()),
            ("decision", event.decision.as_str().into()),
            ("reason", event.reason.as_str().into()),
            ("conversation_id", event.inbound.conversation.conversation_id.as_str().into()),
            ("actor_id", text(sender)),
            ("provider_message_id", text(event.inbound.conversation.message_id.as_deref())),
            ("received_at", event.received_at.into()),
        ]
    }
}

impl StoredEvent {
    /// Whether the event was refused.
    pub(crate) fn is_refusal(&self) -> bool {
        self.event.decision == Decision::Refused
    }
}

impl Doc for Message {
    const TABLE: &'static str = "messages";
    const KIND: &'static str = "message";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("connection_id", text(self.connection_id.as_ref().map(loom_domain::ConnectionId::as_str))),
            ("conversation_id", self.conversation.conversation_id.as_str().into()),
            ("thread_id", text(self.conversation.thread_id.as_deref())),
            ("provider_message_id", text(self.conversation.message_id.as_deref())),
            ("received_at", self.received_at.into()),
        ]
    }
}

/// An Inbox item with the facts of its Message that indexes need.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredItem {
    #[serde(flatten)]
    pub(crate) item: inbox::Item,
    #[serde(rename = "conversationId")]
    pub(crate) conversation_id: String,
    #[serde(rename = "senderId")]
    pub(crate) sender_id: String,
    pub(crate) origin: String,
}

impl Doc for StoredItem {
    const TABLE: &'static str = "inbox";
    const KIND: &'static str = "inbox item";
    fn id(&self) -> &str {
        self.item.id.as_str()
    }
    fn columns(&self) -> Columns {
        let item = &self.item;
        vec![
            ("seq", item.seq.into()),
            ("agent_id", item.agent_id.as_str().into()),
            ("address_id", text(item.address_id.as_ref().map(loom_domain::AddressId::as_str))),
            ("membership_id", text(item.membership_id.as_ref().map(loom_domain::MembershipId::as_str))),
            ("message_id", item.message_id.as_str().into()),
            ("conversation_id", self.conversation_id.as_str().into()),
            ("sender_id", self.sender_id.as_str().into()),
            ("origin", self.origin.as_str().into()),
            ("queue_key", item.queue_key.as_str().into()),
            ("state", item.state.as_str().into()),
            ("open", (!item.state.is_final()).into()),
            ("available_at", item.available_at.unwrap_or_default().into()),
            ("created_at", item.created_at.into()),
            ("updated_at", item.updated_at.into()),
        ]
    }
}

impl Doc for HandlingAttempt {
    const TABLE: &'static str = "attempts";
    const KIND: &'static str = "attempt";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("inbox_item_id", self.inbox_item_id.as_str().into()),
            ("turn_id", self.turn_id.as_str().into()),
        ]
    }
}

impl Doc for Turn {
    const TABLE: &'static str = "turns";
    const KIND: &'static str = "turn";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("agent_id", self.agent_id.as_str().into()),
            ("item_id", self.item_id.as_str().into()),
            ("open", matches!(self.state, TurnState::Starting | TurnState::Running).into()),
            ("node", self.node.as_str().into()),
            ("created_at", self.created_at.into()),
        ]
    }
}

impl Doc for OutboxItem {
    const TABLE: &'static str = "outbox";
    const KIND: &'static str = "outbox item";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        let open = !matches!(
            self.state,
            outbox::State::Sent | outbox::State::Cancelled | outbox::State::Failed | outbox::State::Expired
        );
        let awaited = self.state == outbox::State::Sent && self.reply_state == outbox::ReplyState::Waiting;
        vec![
            ("seq", self.seq.into()),
            ("agent_id", self.agent_id.as_str().into()),
            ("address_id", self.address_id.as_str().into()),
            ("membership_id", text(self.membership_id.as_ref().map(loom_domain::MembershipId::as_str))),
            ("connection_id", self.conversation.connection_id.as_str().into()),
            ("conversation_id", self.conversation.conversation_id.as_str().into()),
            ("inbox_item_id", text(self.inbox_item_id.as_ref().map(loom_domain::InboxId::as_str))),
            ("state", self.state.as_str().into()),
            ("open", open.into()),
            ("proactive", self.inbox_item_id.is_none().into()),
            ("awaited", awaited.into()),
            ("held_until", self.held_until.unwrap_or_default().into()),
            ("expires_at", self.expires_at.into()),
            ("created_at", self.created_at.into()),
            ("updated_at", self.updated_at.into()),
        ]
    }
}

/// A Part with the facts of its Outbox item that indexes need.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredPart {
    #[serde(flatten)]
    pub(crate) part: Part,
    #[serde(rename = "connectionId")]
    pub(crate) connection_id: String,
    #[serde(rename = "conversationId")]
    pub(crate) conversation_id: String,
    #[serde(rename = "expiresAt")]
    pub(crate) expires_at: loom_domain::Timestamp,
}

impl Doc for StoredPart {
    const TABLE: &'static str = "parts";
    const KIND: &'static str = "part";
    fn id(&self) -> &str {
        self.part.id.as_str()
    }
    fn columns(&self) -> Columns {
        use outbox::PartState as S;
        let part = &self.part;
        let open = matches!(part.state, S::Pending | S::Sending | S::RetryWait | S::Unknown);
        vec![
            ("seq", part.seq.into()),
            ("outbox_id", part.outbox_id.as_str().into()),
            ("n", part.n.into()),
            ("connection_id", self.connection_id.as_str().into()),
            ("conversation_id", self.conversation_id.as_str().into()),
            ("state", part.state.as_str().into()),
            ("open", open.into()),
            ("until", part.until.unwrap_or_default().into()),
            ("lease_until", part.lease_until.unwrap_or_default().into()),
            ("expires_at", self.expires_at.into()),
        ]
    }
}

impl Doc for SendAttempt {
    const TABLE: &'static str = "send_attempts";
    const KIND: &'static str = "attempt";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("part_id", self.part_id.as_str().into()),
            ("outbox_id", self.outbox_id.as_str().into()),
        ]
    }
}

impl Doc for Artifact {
    const TABLE: &'static str = "artifacts";
    const KIND: &'static str = "artifact";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.seq.into()),
            ("sha256", self.sha256.as_str().into()),
            ("created_at", self.created_at.into()),
        ]
    }
}

/// A Notice with the key that keeps it from being told twice.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredNotice {
    #[serde(flatten)]
    pub(crate) notice: Notice,
    #[serde(rename = "dedupeKey")]
    pub(crate) dedupe_key: String,
}

impl Doc for StoredNotice {
    const TABLE: &'static str = "notices";
    const KIND: &'static str = "notice";
    fn id(&self) -> &str {
        self.notice.id.as_str()
    }
    fn columns(&self) -> Columns {
        vec![
            ("seq", self.notice.seq.into()),
            ("dedupe_key", self.dedupe_key.as_str().into()),
            ("acked", self.notice.acked_at.is_some().into()),
            ("created_at", self.notice.created_at.into()),
        ]
    }
}
