//! What the steps look at, derived once from the input.

use super::DecisionInput;
use super::policy::effective_trigger;
use crate::message::{Evidence, PolicyVersion, Sender, SenderKind};
use crate::{Address, Capability, DmPolicy, InboundEvent, Membership, TriggerPolicy};

/// The input with its Address known and its derived facts.
pub(super) struct View<'a> {
    pub(super) input: &'a DecisionInput<'a>,
    pub(super) address: &'a Address,
    pub(super) membership: Option<&'a Membership>,
    pub(super) evidence: Evidence,
    pub(super) trigger: TriggerPolicy,
}

impl<'a> View<'a> {
    /// Gives none without an Address.
    pub(super) fn new(input: &'a DecisionInput<'a>, evidence: Evidence) -> Option<View<'a>> {
        let address = input.address?;
        let membership = present_membership(input);
        let trigger = effective_trigger(address, membership);
        Some(View { input, address, membership, evidence, trigger })
    }

    pub(super) fn is_dm(&self) -> bool {
        is_dm(self.input.event)
    }

    /// The sender's stable id; empty when not told.
    pub(super) fn sender_id(&self) -> &'a str {
        self.input.event.sender.as_ref().map_or("", |sender| sender.external_id.as_str())
    }

    pub(super) fn conversation_id(&self) -> &'a str {
        &self.input.event.conversation.conversation_id
    }

    pub(super) fn is_bot(&self) -> bool {
        let kind = self.input.event.sender.as_ref().map(|sender| sender.kind);
        matches!(kind, Some(SenderKind::Bot | SenderKind::App))
    }

    pub(super) fn is_own(&self) -> bool {
        let sender = self.input.event.sender.as_ref();
        sender.is_some_and(|Sender { external_id, .. }| is_own_id(self.input, self.address, external_id))
    }

    /// Whether the sender waits for approval: a managed DM without a Membership, or with a draft that was
    /// never enabled (step 14g; 14a to 14d have passed).
    pub(super) fn is_pending(&self) -> bool {
        self.is_dm()
            && self.address.dm_policy == DmPolicy::Managed
            && self.membership.is_none_or(|m| !m.enabled && m.first_enabled_at.is_none())
    }

    pub(super) fn has_enabled_membership(&self) -> bool {
        self.membership.is_some_and(|membership| membership.enabled)
    }
}

fn present_membership<'a>(input: &DecisionInput<'a>) -> Option<&'a Membership> {
    input.membership.filter(|membership| membership.archived_at.is_none())
}

/// Whether the event belongs to a DM. A thread counts as its parent; an untold kind is no DM.
pub(super) fn is_dm(event: &InboundEvent) -> bool {
    event.parent_type.or(event.conversation.conversation_type).is_some_and(crate::ConversationType::is_dm)
}

fn is_own_id(input: &DecisionInput<'_>, address: &Address, id: &str) -> bool {
    let account = input.connection.account_ref.as_str();
    !id.is_empty()
        && (id == address.native_identity()
            || id == address.external_identity
            || id == account
            || input.own_ids.iter().any(|own| own == id))
}

/// Trigger evidence of an event for its Address (messaging specification 3.3): structured data only, matched
/// by stable id. A dispatch counts only where the Connection has the capability.
#[must_use]
pub fn evidence(input: &DecisionInput<'_>) -> Evidence {
    let event = input.event;
    let explicit_dispatch =
        event.dispatch && input.connection.capabilities.contains(&Capability::ExplicitDispatch);
    let is_named = input
        .address
        .is_some_and(|address| event.mentions.iter().any(|m| is_own_id(input, address, &m.external_id)));
    let is_parall_dispatch = explicit_dispatch && input.connection.provider == "parall";
    Evidence { direct: is_dm(event), mentioned: is_named || is_parall_dispatch, explicit_dispatch }
}

/// Whether the message holds nothing but a mention of the Address or a dispatch.
pub(super) fn is_mention_only(event: &InboundEvent, evidence: Evidence) -> bool {
    let is_addressed = evidence.mentioned || evidence.explicit_dispatch;
    let has_no_text = event.content.text.trim().is_empty() || event.bare_mention;
    is_addressed && has_no_text && event.content.attachments.is_empty()
}

pub(super) fn policy_version(input: &DecisionInput<'_>) -> PolicyVersion {
    PolicyVersion {
        address: input.address.map(|address| address.version),
        membership: present_membership(input).map(|membership| membership.version),
    }
}
