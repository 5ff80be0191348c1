//! Whose turn it is: lanes, then age, over all queues of a run. Pure.

use loom_domain::Timestamp;

use super::{Head, Offer, State};
use crate::sha256_of;

/// Seconds until another look is worth it, while somebody waits and otherwise.
const POLL_SECONDS: (u32, u32) = (180, 900);

/// A lane; earlier ones go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// A new head after changes were requested: one slot.
    Rework,
    /// Of somebody else.
    Community,
    /// Of the token's own account.
    Own,
}

impl Lane {
    /// The word in results.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Lane::Rework => "rework",
            Lane::Community => "community",
            Lane::Own => "own",
        }
    }
}

impl Head {
    /// Its lane; the slot of a new head is used up by its first offer.
    pub(crate) fn lane(&self) -> Lane {
        match (self.is_rework && self.offer.is_none(), self.is_own) {
            (true, _) => Lane::Rework,
            (false, true) => Lane::Own,
            (false, false) => Lane::Community,
        }
    }
}

/// A head that is offered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) offer_id: String,
    pub(crate) key: String,
    pub(crate) lane: Lane,
    pub(crate) ready_since: Timestamp,
    pub(crate) reason: String,
}

/// What waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) unhandled: u64,
    pub(crate) oldest_age_seconds: u64,
    pub(crate) next_poll_seconds: u32,
}

/// Offers the next heads of all queues together.
pub(crate) fn offer(states: &mut [State], take: usize, now: Timestamp) -> Vec<Offered> {
    let mut order = Vec::new();
    for (at, state) in states.iter().enumerate() {
        for (number, head) in state.heads.iter().filter(|(_, head)| state.is_waiting(head)) {
            let offered = head.offer.as_ref().map_or(i64::MIN, |offer| offer.at.0);
            order.push((head.lane(), offered, head.ready_since.0, at, *number));
        }
    }
    order.sort_unstable();
    let mut offers = Vec::new();
    for (lane, _, _, at, number) in order.into_iter().take(take) {
        let Some(head) = states.get_mut(at).and_then(|state| state.heads.get_mut(&number)) else { continue };
        let digest = sha256_of(&(&head.key, now.0, head.offer.as_ref().map(|offer| offer.at.0)));
        let offer_id: String = digest.trim_start_matches("sha256:").chars().take(16).collect();
        let again = if head.offer.is_some() { ", offered before" } else { "" };
        let reason = format!("{}: ready since {}{again}", lane.as_str(), head.ready_since);
        head.offer = Some(Offer { id: offer_id.clone(), at: now });
        let (key, ready_since) = (head.key.clone(), head.ready_since);
        offers.push(Offered { offer_id, key, lane, ready_since, reason });
    }
    offers
}

/// Counts what waits in all queues.
pub(crate) fn backlog(states: &[State], now: Timestamp) -> Backlog {
    let waiting = states.iter().flat_map(|state| state.heads.values().filter(|head| state.is_waiting(head)));
    let (mut unhandled, mut oldest) = (0_u64, now.0);
    for head in waiting {
        unhandled += 1;
        oldest = oldest.min(head.ready_since.0);
    }
    let age = u64::try_from(now.0.saturating_sub(oldest) / 1_000).unwrap_or(0);
    let (soon, later) = POLL_SECONDS;
    let next_poll_seconds = if unhandled > 0 { soon } else { later };
    Backlog { unhandled, oldest_age_seconds: age, next_poll_seconds }
}
