//! Guard 1: how many connections are open, in all and for each peer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    all: usize,
    peers: HashMap<String, usize>,
}

/// One open connection; it is free again when dropped.
pub(super) struct Slot {
    open: Arc<Mutex<Open>>,
    peer: String,
}

impl Slots {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        Slots { open_max: limits.connections_max, per_peer_max: limits.per_peer_max, open: Arc::default() }
    }

    /// Takes a slot, unless the peer or everybody together has too many.
    pub(super) fn take(&self, peer: &Peer) -> Option<Slot> {
        let peer = peer.to_string();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_peer = open.peers.get(&peer).copied().unwrap_or(0);
        if open.all >= self.open_max || of_peer >= self.per_peer_max {
            return None;
        }
        open.all += 1;
        open.peers.insert(peer.clone(), of_peer + 1);
        Some(Slot { open: Arc::clone(&self.open), peer })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        let left = open.peers.get(&self.peer).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            open.peers.remove(&self.peer);
        } else {
            open.peers.insert(self.peer.clone(), left);
        }
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
}
