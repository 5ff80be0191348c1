//! Socket Mode delivery: which envelope goes to which socket when, and what was acknowledged.

mod envelope;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use envelope::Envelope;
pub use envelope::{Ack, Unacked};

/// Time a client has to acknowledge.
const ACK_WINDOW: Duration = Duration::from_secs(3);
/// Waits before the first, second and third retry.
const RETRY_WAITS: [Duration; 3] = [Duration::ZERO, Duration::from_mins(1), Duration::from_mins(5)];
/// Acknowledgements kept.
const HISTORY_MAX: usize = 200_000;
/// Past payloads kept for another delivery.
const PAST_MAX: usize = 10_000;

/// An order to one socket's task.
#[derive(Debug)]
pub(super) enum Command {
    /// Sends a text frame.
    Send(String),
    /// Closes with the close handshake after a while.
    CloseAfter(Duration),
    /// Drops the TCP connection.
    Abort,
    /// Neither reads nor writes any more.
    Stall,
}

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) id: u64,
    pub(super) tx: mpsc::Sender<Command>,
    /// No longer chosen for deliveries.
    pub(super) retiring: bool,
    pub(super) stalled: bool,
}

/// Sockets and envelopes.
#[derive(Debug)]
pub(super) struct Delivery {
    scale: f64,
    ack_window: Duration,
    pub(super) sockets: Vec<Socket>,
    pub(super) sockets_max_seen: usize,
    pub(super) sockets_total: u64,
    next_socket: usize,
    pending: BTreeMap<u64, Envelope>,
    by_id: BTreeMap<String, u64>,
    sequence: u64,
    pub(super) sent: u64,
    pub(super) suppressed: u64,
    pub(super) acked: u64,
    pub(super) acks: VecDeque<Ack>,
    pub(super) given_up: VecDeque<Unacked>,
    past: VecDeque<(String, String, Value)>,
}

impl Delivery {
    /// Scales Slack's spans; the acknowledgement window can be set apart from them.
    pub(super) fn new(scale: f64, ack_window: Option<Duration>) -> Self {
        Self {
            scale,
            ack_window: ack_window.unwrap_or_else(|| ACK_WINDOW.mul_f64(scale.max(0.0))),
            sockets: Vec::new(),
            sockets_max_seen: 0,
            sockets_total: 0,
            next_socket: 0,
            pending: BTreeMap::new(),
            by_id: BTreeMap::new(),
            sequence: 0,
            sent: 0,
            suppressed: 0,
            acked: 0,
            acks: VecDeque::new(),
            given_up: VecDeque::new(),
            past: VecDeque::new(),
        }
    }

    /// A span of Slack's time in the twin's.
    pub(super) fn scaled(&self, wait: Duration) -> Duration {
        wait.mul_f64(self.scale.max(0.0))
    }

    /// Registers a socket and returns its id.
    pub(super) fn open(&mut self, tx: mpsc::Sender<Command>) -> u64 {
        self.sockets_total += 1;
        let id = self.sockets_total;
        self.sockets.push(Socket { id, tx, retiring: false, stalled: false });
        self.sockets_max_seen = self.sockets_max_seen.max(self.sockets.len());
        id
    }

    pub(super) fn closed(&mut self, id: u64) {
        self.sockets.retain(|s| s.id != id);
    }

    /// Queues a payload for delivery as a new envelope.
    pub(super) fn queue(&mut self, envelope_id: String, kind: &str, payload: Value) {
        let event_id = payload.get("event_id").and_then(Value::as_str).map(str::to_owned);
        if let Some(event_id) = &event_id {
            push_capped(&mut self.past, (event_id.clone(), envelope_id.clone(), payload.clone()), PAST_MAX);
        }
        self.insert(envelope_id, event_id, kind, payload);
    }

    fn insert(&mut self, id: String, event_id: Option<String>, kind: &str, payload: Value) {
        self.sequence += 1;
        self.by_id.insert(id.clone(), self.sequence);
        let envelope = Envelope::new(id, event_id, kind, payload);
        self.pending.insert(self.sequence, envelope);
    }

    /// Exchanges the two newest envelopes that were not sent yet.
    pub(super) fn swap_newest(&mut self) {
        let mut newest = self.pending.iter_mut().rev().filter(|(_, e)| e.last_sent.is_none()).map(|(_, e)| e);
        if let (Some(a), Some(b)) = (newest.next(), newest.next()) {
            std::mem::swap(a, b);
        }
        self.by_id = self.pending.iter().map(|(seq, e)| (e.id.clone(), *seq)).collect();
    }

    /// Sends a past event again, with the same ids and `retry_attempt` 0.
    pub(super) fn redeliver(&mut self, event_id: &str) -> bool {
        let Some((_, envelope_id, payload)) = self.past.iter().find(|(e, ..)| e == event_id).cloned() else {
            return false;
        };
        self.insert(envelope_id, Some(event_id.to_owned()), "events_api", payload);
        true
    }

    /// The payload of a past event.
    pub(super) fn past_payload(&self, event_id: &str) -> Option<Value> {
        self.past.iter().find(|(e, ..)| e == event_id).map(|(.., p)| p.clone())
    }

    pub(super) fn acknowledge(&mut self, envelope_id: &str) {
        let known = self.by_id.remove(envelope_id);
        let copy = || self.pending.iter().find(|(_, e)| e.id == envelope_id).map(|(seq, _)| *seq);
        let Some(envelope) = known.or_else(copy).and_then(|seq| self.pending.remove(&seq)) else { return };
        self.acked += 1;
        push_capped(&mut self.acks, envelope.into_ack(), HISTORY_MAX);
    }

    /// Envelopes still waiting for an acknowledgement.
    pub(super) fn unacked(&self) -> Vec<Unacked> {
        self.pending.values().map(Envelope::as_unacked).collect()
    }

    /// Does what is due at `now`; returns when to look again.
    pub(super) fn pump(&mut self, now: Instant) -> Option<Instant> {
        let due: Vec<u64> = self.pending.iter().filter(|(_, e)| e.next_at <= now).map(|(s, _)| *s).collect();
        for sequence in due {
            self.step(sequence, now);
        }
        self.pending.values().map(|e| e.next_at).min()
    }

    fn step(&mut self, sequence: u64, now: Instant) {
        let Some(mut envelope) = self.pending.remove(&sequence) else { return };
        if std::mem::take(&mut envelope.running) && !self.plan_retry(&mut envelope, now) {
            self.by_id.remove(&envelope.id);
            push_capped(&mut self.given_up, envelope.as_unacked(), HISTORY_MAX);
            return;
        }
        if envelope.next_at <= now {
            self.dispatch(&envelope);
            (envelope.running, envelope.last_sent) = (true, Some(now));
            envelope.next_at = now + self.ack_window;
        }
        self.pending.insert(sequence, envelope);
    }

    /// Moves an unacknowledged envelope to its next attempt; false when there is none left.
    fn plan_retry(&self, envelope: &mut Envelope, now: Instant) -> bool {
        let retried = matches!(envelope.kind.as_str(), "events_api");
        let Some(wait) = RETRY_WAITS.get(envelope.attempt).filter(|_| retried) else { return false };
        envelope.attempt += 1;
        envelope.next_at = now + self.scaled(*wait);
        true
    }

    fn dispatch(&mut self, envelope: &Envelope) {
        let frame = envelope.frame();
        for _ in 0..self.sockets.len() {
            self.next_socket = self.next_socket.wrapping_add(1);
            let at = self.next_socket % self.sockets.len().max(1);
            let Some(socket) = self.sockets.get(at).filter(|s| !s.retiring) else { continue };
            if socket.stalled || socket.tx.try_send(Command::Send(frame.clone())).is_ok() {
                self.sent += 1;
                return;
            }
        }
    }
}

fn push_capped<T>(queue: &mut VecDeque<T>, item: T, max: usize) {
    if queue.len() >= max {
        queue.pop_front();
    }
    queue.push_back(item);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unacked_event_is_retried_at_once_after_one_and_after_five_minutes() {
        let mut delivery = Delivery::new(1.0, None);
        let (tx, mut rx) = mpsc::channel(16);
        delivery.open(tx);
        delivery.queue("e1".into(), "events_api", json!({"event_id": "Ev1"}));
        let start = Instant::now();
        let (mut now, mut seen) = (start, Vec::new());
        while let Some(next) = delivery.pump(now) {
            while let Ok(Command::Send(frame)) = rx.try_recv() {
                let frame: Value = serde_json::from_str(&frame).unwrap();
                seen.push((frame["retry_attempt"].as_u64().unwrap(), (now - start).as_secs()));
            }
            now = next;
        }
        assert_eq!(seen, [(0, 0), (1, 3), (2, 66), (3, 369)]);
        assert_eq!(delivery.given_up.len(), 1);
        assert!(delivery.unacked().is_empty());
    }

    #[test]
    fn envelopes_go_round_robin_and_an_ack_ends_them() {
        let mut delivery = Delivery::new(1.0, None);
        let (tx_a, mut a) = mpsc::channel(16);
        let (tx_b, mut b) = mpsc::channel(16);
        delivery.open(tx_a);
        delivery.open(tx_b);
        for n in 0..4 {
            delivery.queue(format!("e{n}"), "events_api", json!({"event_id": format!("Ev{n}")}));
        }
        delivery.pump(Instant::now());
        assert_eq!((a.len(), b.len()), (2, 2));
        assert!(a.try_recv().is_ok() && b.try_recv().is_ok());
        for n in 0..4 {
            delivery.acknowledge(&format!("e{n}"));
        }
        assert_eq!(delivery.acks.len(), 4);
        assert_eq!(delivery.pump(Instant::now()), None);
    }
}
