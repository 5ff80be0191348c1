//! Guard 1: how many connections are open, in all and for each peer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::pulse::Pulse;
use crate::{ConnectionLimits, Peer};

/// Counts open connections.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    open_max: usize,
    per_peer_max: usize,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// In the order of their coming.
    seats: BTreeMap<u64, Seat>,
}

#[derive(Debug)]
struct Seat {
    peer: String,
    pulse: Pulse,
}

/// One open connection; it is free again when dropped.
pub(super) struct Slot {
    open: Arc<Mutex<Open>>,
    number: u64,
    pub(super) pulse: Pulse,
}

impl Slots {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        Slots { open_max: limits.connections_max, per_peer_max: limits.per_peer_max, open: Arc::default() }
    }

    /// Takes a slot, unless the peer or everybody together has too many. Some slots are the owner's alone, and for
    /// the owner the oldest connection without a request makes way: nobody can lock the owner out.
    pub(super) fn take(&self, peer: &Peer) -> Option<Slot> {
        let makes_room = peer.may_be_owner();
        let open_max = if makes_room { self.open_max } else { ConnectionLimits::of_others(self.open_max) };
        let peer = peer.to_string();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_peer_full = open.seats.values().filter(|seat| seat.peer == peer).count() >= self.per_peer_max;
        if is_peer_full || open.seats.len() >= open_max {
            let may_go = |seat: &Seat| makes_room && (!is_peer_full || seat.peer == peer);
            let gone = open.seats.iter().find(|(_, seat)| may_go(seat) && seat.pulse.end_unless_at_work());
            let gone = gone.map(|(number, _)| *number)?;
            open.seats.remove(&gone);
        }
        let (number, pulse) = (open.next, Pulse::new());
        open.next += 1;
        open.seats.insert(number, Seat { peer, pulse: pulse.clone() });
        Some(Slot { open: Arc::clone(&self.open), number, pulse })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).seats.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_bounded_and_given_back() {
        let slots = Slots::new(&ConnectionLimits {
            connections_max: 3,
            per_peer_max: 2,
            ..ConnectionLimits::default()
        });
        let peer = |n: u8| Peer::Address([127, 0, 0, n].into());
        let first = slots.take(&peer(1)).unwrap();
        let _second = slots.take(&peer(1)).unwrap();
        assert!(slots.take(&peer(1)).is_none());
        let _third = slots.take(&peer(2)).unwrap();
        assert!(slots.take(&peer(3)).is_none());
        drop(first);
        assert!(slots.take(&peer(3)).is_some());
    }

    /// ATK-11: whatever Agents and strangers hold at work, the owner finds a slot.
    #[test]
    fn atk_11_slots_at_work_do_not_lock_the_owner_out() {
        let slots = Slots::new(&ConnectionLimits::default());
        let socket = |runtime_child| Peer::Socket { uid: 1, runtime_child };
        let mut held: Vec<Slot> = std::iter::from_fn(|| slots.take(&socket(true))).collect();
        assert_eq!(held.len(), ConnectionLimits::default().per_peer_max);
        assert!(slots.take(&socket(false)).is_some(), "a share of its own");
        for n in 1..=u8::MAX {
            held.extend(std::iter::from_fn(|| slots.take(&Peer::Address([127, 0, 0, n].into()))));
        }
        let work: Vec<_> = held.iter().map(|slot| slot.pulse.work()).collect();
        assert_eq!(work.len(), ConnectionLimits::of_others(ConnectionLimits::default().connections_max));
        assert!(slots.take(&socket(true)).is_none());
        assert!(slots.take(&socket(false)).is_some(), "slots that are the owner's alone");
    }

    #[test]
    fn connections_without_a_request_make_way_for_the_owner_only() {
        let slots = Slots::new(&ConnectionLimits {
            connections_max: 2,
            per_peer_max: 2,
            ..ConnectionLimits::default()
        });
        let socket = |runtime_child| Peer::Socket { uid: 1, runtime_child };
        let first = slots.take(&socket(true)).unwrap();
        let second = slots.take(&socket(true)).unwrap();
        assert!(slots.take(&socket(true)).is_none());
        let work = first.pulse.work();
        let owner = slots.take(&socket(false)).unwrap();
        assert!(!first.pulse.has_ended() && second.pulse.has_ended());
        let _theirs = owner.pulse.work();
        assert!(slots.take(&socket(false)).is_none(), "who is at work is not sent away");
        drop((work, second));
        assert!(slots.take(&socket(false)).is_some());
        assert!(first.pulse.has_ended());

        let address = |n: u8| Peer::Address([127, 0, 0, n].into());
        let slots = Slots::new(&ConnectionLimits { connections_max: 2, ..ConnectionLimits::default() });
        let held = [1, 2].map(|n| slots.take(&address(n)).unwrap());
        assert!(slots.take(&address(3)).is_none());
        assert!(slots.take(&socket(false)).is_some());
        assert!(held[0].pulse.has_ended() && !held[1].pulse.has_ended());
    }
}
