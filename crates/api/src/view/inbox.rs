//! Inbox items as the API shows them (messaging specification 9.3).

use loom_domain::inbox::Item;
use loom_domain::message::PolicyVersion;
use loom_domain::outbox::{OutboxReason, State};
use loom_domain::turn::AttemptStatus;
use loom_domain::{
    AddressId, AttemptId, Event, HandlingAttempt, MembershipId, Message, OutboxId, ReplyPolicy,
};
use serde::{Deserialize, Serialize};

/// An item with what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxEntry {
    /// The item.
    pub item: Item,
    /// Its Message; `provider` and `origin` tell where it comes from.
    pub message: Message,
    /// Its Address; absent for internal and owner items.
    #[serde(default)]
    pub address: Option<AddressRef>,
    /// Its Membership.
    #[serde(default)]
    pub membership: Option<MembershipRef>,
    /// The newest Attempt.
    #[serde(default)]
    pub attempt: Option<AttemptRef>,
    /// The Agent's name.
    pub agent_name: String,
    /// Its replies.
    #[serde(default)]
    pub outbox_items: Vec<OutboxRef>,
}

/// An Address in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressRef {
    /// Id.
    pub id: AddressId,
    /// Identity.
    #[serde(default)]
    pub external_identity: Option<String>,
}

/// A Membership in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MembershipRef {
    /// Id.
    pub id: MembershipId,
    /// Present version.
    pub version: u64,
    /// Name.
    #[serde(default)]
    pub display_name: Option<String>,
}

/// An Attempt in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRef {
    /// Id.
    pub id: AttemptId,
    /// Membership version frozen at claim.
    #[serde(default)]
    pub membership_version: Option<u64>,
    /// Reply policy frozen at claim.
    pub effective_reply_policy: ReplyPolicy,
    /// Status.
    pub status: AttemptStatus,
}

/// An Outbox item in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxRef {
    /// Id.
    pub id: OutboxId,
    /// State.
    pub state: State,
    /// Why.
    #[serde(default)]
    pub state_reason: Option<OutboxReason>,
}

/// Everything about one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxDetail {
    /// The item with what it belongs to.
    #[serde(flatten)]
    pub entry: InboxEntry,
    /// Every Attempt, oldest first.
    #[serde(default)]
    pub attempts: Vec<HandlingAttempt>,
    /// Policy versions it was judged under.
    #[serde(default)]
    pub policy_version: Option<PolicyVersion>,
    /// Place and what it waits for, such as `3rd in queue; behind trn_…`.
    #[serde(default)]
    pub position: Option<String>,
    /// Its Event.
    #[serde(default)]
    pub event: Option<Event>,
}
