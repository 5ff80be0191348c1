//! Part of guard 6: guesses are slowed per peer, loopback included.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::RequestLimits;

/// Peers remembered; beyond it the one with the oldest failure is forgotten.
const PEERS_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Record {
    window_from: Instant,
    failures: u32,
    paused_until: Option<Instant>,
}

/// Counts refused credentials of each peer.
#[derive(Debug)]
pub(crate) struct Throttle {
    failures_max: u32,
    window: Duration,
    pause: Duration,
    peers: Mutex<HashMap<String, Record>>,
}

impl Throttle {
    /// Makes one without failures.
    pub(crate) fn new(limits: &RequestLimits) -> Self {
        Throttle {
            failures_max: limits.auth_failures_max,
            window: limits.auth_window,
            pause: limits.auth_pause,
            peers: Mutex::default(),
        }
    }

    /// How long the peer still has to wait before it may present a credential.
    pub(super) fn pause_left(&self, peer: &str, now: Instant) -> Option<Duration> {
        let peers = self.peers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let until = peers.get(peer)?.paused_until?;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// Counts a refused credential; the one that fills the window starts the pause.
    pub(super) fn failed(&self, peer: &str, now: Instant) {
        let mut peers = self.peers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if peers.len() >= PEERS_MAX && !peers.contains_key(peer) {
            forget_oldest(&mut peers);
        }
        let fresh = Record { window_from: now, failures: 0, paused_until: None };
        let record = peers.entry(peer.to_owned()).or_insert(fresh);
        let over = record.paused_until.is_some_and(|until| until <= now);
        if over || now.duration_since(record.window_from) >= self.window {
            *record = fresh;
        }
        record.failures += 1;
        if record.failures >= self.failures_max {
            record.paused_until = Some(now + self.pause);
        }
    }
}

fn forget_oldest(peers: &mut HashMap<String, Record>) {
    let oldest = peers.iter().min_by_key(|(_, record)| record.window_from).map(|(peer, _)| peer.clone());
    if let Some(peer) = oldest {
        peers.remove(&peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ATK-08: ten failures in a minute, then a pause of a minute; another peer is not held.
    #[tokio::test(start_paused = true)]
    async fn atk_08_ten_failures_then_a_pause() {
        let throttle = Throttle::new(&RequestLimits::default());
        for _ in 0..10 {
            assert!(throttle.pause_left("ip:127.0.0.1", Instant::now()).is_none());
            throttle.failed("ip:127.0.0.1", Instant::now());
        }
        assert!(throttle.pause_left("ip:127.0.0.1", Instant::now()).is_some());
        assert!(throttle.pause_left("ip:127.0.0.2", Instant::now()).is_none());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(throttle.pause_left("ip:127.0.0.1", Instant::now()).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn atk_08_memory_of_peers_is_bounded() {
        let throttle = Throttle::new(&RequestLimits::default());
        for n in 0..PEERS_MAX + 10 {
            throttle.failed(&format!("ip:{n}"), Instant::now());
        }
        assert_eq!(throttle.peers.lock().unwrap().len(), PEERS_MAX);
    }
}
