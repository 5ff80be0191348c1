//! One queue per method, paced by its tier, paused by its own rate limits only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Calls that may be made at once after a quiet time, as a part of the calls per minute.
const BURST_PART: u32 = 2;

/// Calls per minute by method; none means that no tier is known, or that something else sets the pace (the
/// reconnect schedule for `apps.connections.open`, the conversation's pace for `chat.postMessage`).
fn per_minute(method: &str) -> Option<u32> {
    match method {
        "conversations.list" | "users.list" | "users.conversations" | "reactions.remove" => Some(20),
        "conversations.history"
        | "conversations.replies"
        | "conversations.info"
        | "conversations.open"
        | "reactions.add"
        | "reactions.get"
        | "bots.info"
        | "chat.update"
        | "chat.delete" => Some(50),
        "users.info"
        | "conversations.members"
        | "files.info"
        | "files.getUploadURLExternal"
        | "files.completeUploadExternal" => Some(100),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Queue {
    /// When the calls so far would be used up at the tier's pace.
    spent_until: Option<Instant>,
    paused_until: Option<Instant>,
}

/// The queues of one Connection.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    queues: Mutex<HashMap<&'static str, Queue>>,
}

impl Pacer {
    /// Takes a turn, or tells how long there is none when that is more than `patience`.
    pub(super) async fn admit(&self, method: &'static str, patience: Duration) -> Result<(), Duration> {
        let deadline = Instant::now() + patience;
        loop {
            let now = Instant::now();
            let wait = self.take(method, now);
            if wait.is_zero() {
                return Ok(());
            }
            if now + wait > deadline {
                return Err(wait);
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Stops one method for a while.
    pub(super) fn pause(&self, method: &'static str, wait: Duration) {
        let until = Instant::now() + wait;
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queues.entry(method).or_default();
        queue.paused_until = queue.paused_until.max(Some(until));
    }

    fn take(&self, method: &'static str, now: Instant) -> Duration {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queues.entry(method).or_default();
        let pause = queue.paused_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        if !pause.is_zero() {
            return pause;
        }
        queue.paused_until = None;
        let Some(rate) = per_minute(method) else { return Duration::ZERO };
        let each = Duration::from_mins(1) / rate;
        let spent = queue.spent_until.unwrap_or(now).max(now);
        let ahead = spent.saturating_duration_since(now);
        let allowance = each * (rate / BURST_PART).saturating_sub(1);
        if ahead > allowance {
            return ahead.saturating_sub(allowance);
        }
        queue.spent_until = Some(spent + each);
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-190: a pause stops its own method and no other.
    #[tokio::test(start_paused = true)]
    async fn msg_190_a_pause_is_per_method() {
        let pacer = Pacer::default();
        pacer.pause("chat.postMessage", Duration::from_secs(30));
        let wait = pacer.admit("chat.postMessage", Duration::ZERO).await.unwrap_err();
        assert!(wait > Duration::from_secs(29));
        assert_eq!(pacer.admit("conversations.history", Duration::ZERO).await, Ok(()));
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(pacer.admit("chat.postMessage", Duration::ZERO).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tier_is_not_overrun() {
        let pacer = Pacer::default();
        let start = Instant::now();
        for _ in 0..70 {
            pacer.admit("conversations.history", Duration::from_mins(1)).await.unwrap();
        }
        let took = start.elapsed();
        assert!(took >= Duration::from_secs(53) && took < Duration::from_mins(1), "{took:?}");
    }
}
