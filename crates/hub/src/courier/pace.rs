//! Token buckets: one per conversation and one for the Connection.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loom_channels::Pacing;
use tokio::time::Instant;

/// Conversations remembered; full buckets are forgotten first.
const BUCKETS_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn refill(&mut self, per_s: u32, burst: u32, now: Instant) {
        let gained = now.duration_since(self.at).as_secs_f64() * f64::from(per_s);
        self.tokens = (self.tokens + gained).min(f64::from(burst));
        self.at = now;
    }
}

/// The pace of one Connection.
#[derive(Debug)]
pub(super) struct Pace {
    pacing: Pacing,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    conversations: HashMap<String, Bucket>,
    connection: Bucket,
}

impl Pace {
    pub(super) fn new(pacing: Pacing) -> Self {
        let connection = Bucket { tokens: f64::from(pacing.connection_per_s), at: Instant::now() };
        Pace { pacing, state: Mutex::new(State { conversations: HashMap::new(), connection }) }
    }

    fn with<T>(&self, run: impl FnOnce(&mut State, Pacing) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        state.connection.refill(self.pacing.connection_per_s, self.pacing.connection_per_s, now);
        for bucket in state.conversations.values_mut() {
            bucket.refill(self.pacing.conversation_per_s, self.pacing.conversation_burst, now);
        }
        let full = f64::from(self.pacing.conversation_burst);
        state.conversations.retain(|_, bucket| bucket.tokens < full);
        run(&mut state, self.pacing)
    }

    /// Conversations that must wait for a token.
    pub(super) fn tired(&self) -> Vec<String> {
        self.with(|state, _| {
            state.conversations.iter().filter(|(_, b)| b.tokens < 1.0).map(|(id, _)| id.clone()).collect()
        })
    }

    /// Whole tokens of the Connection.
    pub(super) fn connection_tokens(&self) -> usize {
        self.with(|state, pacing| {
            (1..=pacing.connection_per_s)
                .rev()
                .find(|n| state.connection.tokens >= f64::from(*n))
                .map_or(0, |n| usize::try_from(n).unwrap_or(0))
        })
    }

    /// Takes one token of the conversation and the Connection.
    pub(super) fn spend(&self, conversation: &str) {
        self.with(|state, pacing| {
            state.connection.tokens -= 1.0;
            if state.conversations.len() >= BUCKETS_MAX {
                return;
            }
            let fresh = Bucket { tokens: f64::from(pacing.conversation_burst), at: Instant::now() };
            state.conversations.entry(conversation.to_owned()).or_insert(fresh).tokens -= 1.0;
        });
    }

    /// Time until the next token of a bucket that is empty.
    pub(super) fn next_token(&self) -> Option<Duration> {
        self.with(|state, pacing| {
            let per_s = f64::from(pacing.conversation_per_s.max(1));
            let waits =
                state.conversations.values().filter(|b| b.tokens < 1.0).map(|b| (1.0 - b.tokens) / per_s);
            let connection = (state.connection.tokens < 1.0)
                .then(|| (1.0 - state.connection.tokens) / f64::from(pacing.connection_per_s.max(1)));
            waits.chain(connection).reduce(f64::min).map(|wait| Duration::from_secs_f64(wait.max(0.001)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-197: a burst is spread at the platform's pace.
    #[tokio::test(start_paused = true)]
    async fn msg_197_a_conversation_is_paced_and_others_are_not() {
        let pace = Pace::new(Pacing { conversation_per_s: 1, conversation_burst: 3, connection_per_s: 10 });
        for _ in 0..3 {
            assert!(pace.tired().is_empty());
            pace.spend("C1");
        }
        assert_eq!(pace.tired(), ["C1"]);
        assert_eq!(pace.connection_tokens(), 7);
        tokio::time::advance(pace.next_token().unwrap()).await;
        assert!(pace.tired().is_empty());
    }
}
