//! Rate limits: a window per method tier and a bucket per channel for `chat.postMessage`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// Window of the method tiers.
const WINDOW: Duration = Duration::from_mins(1);
/// Messages a channel takes at once.
const CHANNEL_BURST: u32 = 5;
/// Time after which a channel takes one more message.
const CHANNEL_REFILL: Duration = Duration::from_secs(1);

/// Calls seen lately.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    calls: BTreeMap<String, VecDeque<Instant>>,
    /// When the bucket of a channel is full again.
    channels: BTreeMap<String, Instant>,
}

/// Calls per minute of a method; none means no limit of its own.
fn per_minute(method: &str) -> Option<usize> {
    match method {
        "apps.connections.open" => Some(10),
        "conversations.list" | "users.list" | "reactions.remove" => Some(20),
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
        | "files.completeUploadExternal"
        | "chat.postEphemeral" => Some(100),
        _ => None,
    }
}

impl Limiter {
    /// Counts a call, or says how many seconds to stay away.
    pub(super) fn admit(&mut self, method: &str, channel: Option<&str>, now: Instant) -> Result<(), u64> {
        if let ("chat.postMessage", Some(channel)) = (method, channel) {
            return admit_channel(self.channels.entry(channel.to_owned()).or_insert(now), now);
        }
        match per_minute(method) {
            Some(limit) => admit(self.calls.entry(method.to_owned()).or_default(), limit, WINDOW, now),
            None => Ok(()),
        }
    }
}

/// Takes a drop of the bucket that refills one a second.
fn admit_channel(full_at: &mut Instant, now: Instant) -> Result<(), u64> {
    let after = (*full_at).max(now) + CHANNEL_REFILL;
    let over = after.duration_since(now).saturating_sub(CHANNEL_REFILL * CHANNEL_BURST);
    if !over.is_zero() {
        return Err(over.as_secs() + 1);
    }
    *full_at = after;
    Ok(())
}

fn admit(calls: &mut VecDeque<Instant>, limit: usize, window: Duration, now: Instant) -> Result<(), u64> {
    while calls.front().is_some_and(|at| now.duration_since(*at) >= window) {
        calls.pop_front();
    }
    match calls.front() {
        Some(oldest) if calls.len() >= limit => {
            let wait = (*oldest + window).saturating_duration_since(now);
            Err(wait.as_secs() + 1)
        }
        _ => {
            calls.push_back(now);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_takes_a_burst_and_then_says_how_long_to_wait() {
        let (mut limiter, now) = (Limiter::default(), Instant::now());
        for _ in 0..5 {
            assert_eq!(limiter.admit("chat.postMessage", Some("C1"), now), Ok(()));
        }
        assert!(limiter.admit("chat.postMessage", Some("C1"), now).is_err());
        assert_eq!(limiter.admit("chat.postMessage", Some("C2"), now), Ok(()));
        assert_eq!(limiter.admit("chat.postMessage", Some("C1"), now + Duration::from_secs(6)), Ok(()));
    }
}
