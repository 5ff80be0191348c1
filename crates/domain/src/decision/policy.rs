//! Effective policies: the Membership's, else the Address's.

use crate::{Address, Expectation, Membership, ReplyPolicy, TriggerPolicy};

/// The trigger that rules a conversation. In a DM Membership without its own, `mention` and `all` become
/// `direct`.
#[must_use]
pub fn effective_trigger(address: &Address, membership: Option<&Membership>) -> TriggerPolicy {
    let Some(membership) = membership else { return address.trigger_policy };
    match (membership.trigger_policy, address.trigger_policy) {
        (Some(own), _) => own,
        (None, TriggerPolicy::Mention | TriggerPolicy::All) if membership.conversation_type.is_dm() => {
            TriggerPolicy::Direct
        }
        (None, inherited) => inherited,
    }
}

/// The reply policy that rules an item; a message that expects no answer makes it `none`.
#[must_use]
pub fn effective_reply_policy(
    address: &Address,
    membership: Option<&Membership>,
    expectation: Expectation,
) -> ReplyPolicy {
    match expectation {
        Expectation::None => ReplyPolicy::None,
        Expectation::Optional | Expectation::Required => {
            membership.and_then(|m| m.reply_policy).unwrap_or(address.reply_policy)
        }
    }
}
