//! The check at claim: steps 2 to 5, 11 and 13 to 17 again, with present policy and stored evidence.

use super::view::View;
use super::{DecisionInput, Verdict, head, steps};
use crate::message::Evidence;
use crate::reason::{BlockedBy, EventReason};

/// What holds the Agent itself back, beside its archive mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a hidden state")]
pub struct AgentGate {
    /// The owner paused it.
    pub paused: bool,
    /// The hub takes no new work.
    pub draining: bool,
    /// Its runtime does not answer.
    pub runtime_down: bool,
    /// It runs another Turn.
    pub busy: bool,
}

impl AgentGate {
    /// What blocks it, if anything.
    #[must_use]
    pub const fn blocked_by(self) -> Option<BlockedBy> {
        match self {
            AgentGate { paused: true, .. } => Some(BlockedBy::AgentPaused),
            AgentGate { draining: true, .. } => Some(BlockedBy::HubDraining),
            AgentGate { runtime_down: true, .. } => Some(BlockedBy::RuntimeDown),
            AgentGate { busy: true, .. } => Some(BlockedBy::AgentBusy),
            _ => None,
        }
    }
}

/// Result of the check at claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Recheck {
    /// The item may start.
    Ok,
    /// A switch is off for now; the item stays queued.
    Blocked(BlockedBy),
    /// Refused for good; the item is cancelled with `policy_denied`.
    Denied(EventReason),
}

const RECHECKED: &[&str] =
    &["4", "5", "11", "13", "14a", "14b", "14c", "14d", "15a", "15b", "15c", "16", "17"];

/// Checks a platform item again before its Turn starts. A permanent refusal wins over a temporary one.
pub fn recheck(input: &DecisionInput<'_>, stored: Evidence, gate: AgentGate) -> Recheck {
    let policy = check_policy(input, stored);
    match (policy, gate.blocked_by()) {
        (Recheck::Ok, Some(by)) => Recheck::Blocked(by),
        (other, _) => other,
    }
}

/// Checks an internal or owner item again: only its Agent can hold it back.
pub fn recheck_without_address(agent_archived: bool, gate: AgentGate) -> Recheck {
    match (agent_archived, gate.blocked_by()) {
        (true, _) => Recheck::Denied(EventReason::AgentArchived),
        (false, Some(by)) => Recheck::Blocked(by),
        (false, None) => Recheck::Ok,
    }
}

fn check_policy(input: &DecisionInput<'_>, stored: Evidence) -> Recheck {
    let mut blocked = None;
    let ended = head::run(input, &mut Vec::new());
    if let Some((_, _, reason)) = ended {
        match temporary(reason) {
            Some(by) => blocked = Some(by),
            None => return Recheck::Denied(reason),
        }
    }
    let Some(view) = View::new(input, stored) else { return Recheck::Denied(EventReason::NoAddress) };
    for steps::Step(step, _, test) in steps::STEPS {
        if !RECHECKED.contains(step) {
            continue;
        }
        if let (Verdict::End(_, reason), _) = test(&view) {
            match temporary(reason) {
                Some(by) => blocked = blocked.or(Some(by)),
                None => return Recheck::Denied(reason),
            }
        }
    }
    if view.is_pending() {
        // The sender's approval is gone, or DMs became managed after the item was queued.
        return Recheck::Denied(EventReason::MembershipMissing);
    }
    blocked.map_or(Recheck::Ok, Recheck::Blocked)
}

const fn temporary(reason: EventReason) -> Option<BlockedBy> {
    match reason {
        EventReason::ConnectionDisabled => Some(BlockedBy::ConnectionDisabled),
        EventReason::AddressDisabled => Some(BlockedBy::AddressDisabled),
        EventReason::MembershipDisabled => Some(BlockedBy::MembershipDisabled),
        _ => None,
    }
}
