//! The check when the courier takes a Part: rows 7 to 10 and 12 of admission hold again.

use crate::reason::BlockedBy;
use crate::{Address, AgentId, Connection, Membership, OutboundPolicy};

/// Result of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimCheck {
    /// It may be sent.
    Ready,
    /// A switch is off for now.
    Blocked(BlockedBy),
    /// The policy forbids it now.
    Denied,
    /// Its turn has not come: an earlier Part is not sent, or the item is held.
    NotYet,
}

/// Facts of the moment.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a hidden state")]
pub struct ClaimFacts<'a> {
    /// Connection.
    pub connection: &'a Connection,
    /// Address.
    pub address: &'a Address,
    /// Membership of the item, if it has one.
    pub membership: Option<&'a Membership>,
    /// Agent of the item.
    pub agent: &'a AgentId,
    /// Whether the item answers an Inbox item.
    pub is_reply: bool,
    /// Whether every earlier Part is sent.
    pub earlier_sent: bool,
    /// Whether the item is held.
    pub held: bool,
    /// Whether the trust flow allows it or a release covers it.
    pub released: bool,
    /// Whether the capabilities it needs are there.
    pub capable: bool,
}

/// Checks a Part before it is taken. A superseded Address delivers its open items through its successor, so
/// the caller passes the canonical records.
#[must_use]
pub fn check_claim(facts: &ClaimFacts<'_>) -> ClaimCheck {
    let (connection, address, membership) = (facts.connection, facts.address, facts.membership);
    if facts.held || !facts.earlier_sent {
        return ClaimCheck::NotYet;
    }
    let is_gone = connection.archived_at.is_some()
        || address.archived_at.is_some()
        || address.deleted_at.is_some()
        || membership.is_some_and(|m| m.archived_at.is_some());
    let is_forbidden = membership.is_some_and(|m| !allows(m.outbound_policy, facts.is_reply));
    let is_owned = address.agent_id == *facts.agent;
    if is_gone || is_forbidden || !is_owned || !facts.released || !facts.capable {
        return ClaimCheck::Denied;
    }
    if !connection.enabled {
        return ClaimCheck::Blocked(BlockedBy::ConnectionDisabled);
    }
    if !address.enabled {
        return ClaimCheck::Blocked(BlockedBy::AddressDisabled);
    }
    if membership.is_some_and(|m| !m.enabled) {
        return ClaimCheck::Blocked(BlockedBy::MembershipDisabled);
    }
    ClaimCheck::Ready
}

const fn allows(policy: OutboundPolicy, is_reply: bool) -> bool {
    match policy {
        OutboundPolicy::Proactive => true,
        OutboundPolicy::ReplyOnly => is_reply,
        OutboundPolicy::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationType, fixtures};

    #[test]
    fn msg_173_a_forbidding_policy_denies_and_a_switch_blocks() {
        let (connection, mut address) = (fixtures::connection(), fixtures::address());
        let mut membership = fixtures::membership(ConversationType::Group);
        let agent = address.agent_id.clone();
        let check = |address: &Address, membership: &Membership| {
            check_claim(&ClaimFacts {
                connection: &connection,
                address,
                membership: Some(membership),
                agent: &agent,
                is_reply: true,
                earlier_sent: true,
                held: false,
                released: true,
                capable: true,
            })
        };
        assert_eq!(check(&address, &membership), ClaimCheck::Ready);
        membership.enabled = false;
        let off = ClaimCheck::Blocked(BlockedBy::MembershipDisabled);
        assert_eq!(check(&address, &membership), off);
        membership.outbound_policy = OutboundPolicy::None;
        assert_eq!(check(&address, &membership), ClaimCheck::Denied);
        membership = fixtures::membership(ConversationType::Group);
        address.enabled = false;
        let off = ClaimCheck::Blocked(BlockedBy::AddressDisabled);
        assert_eq!(check(&address, &membership), off);
    }
}
