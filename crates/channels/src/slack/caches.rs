//! What is remembered of a workspace: names, kinds of conversations, echoes of our own files.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loom_domain::ConversationType;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A name is good for this long.
const NAME_TTL: Duration = Duration::from_hours(6);
/// A failed lookup is not repeated for this long.
const FAILURE_TTL: Duration = Duration::from_mins(10);
/// Names and kinds that are kept.
const ENTRIES_MAX: usize = 20_000;
/// Echoes that are kept.
const ECHOES_MAX: usize = 256;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Values by id, each good for a time; a failed lookup is a value too.
#[derive(Debug)]
pub(super) struct Cache<V> {
    entries: Mutex<HashMap<String, (Option<V>, Instant)>>,
}

impl<V> Default for Cache<V> {
    fn default() -> Self {
        Cache { entries: Mutex::default() }
    }
}

impl<V: Clone> Cache<V> {
    /// Whether a lookup is needless: the value or its absence is known.
    pub(super) fn is_known(&self, id: &str) -> bool {
        lock(&self.entries).get(id).is_some_and(|(_, until)| *until > Instant::now())
    }

    /// The value, if it is known.
    pub(super) fn value(&self, id: &str) -> Option<V> {
        let entries = lock(&self.entries);
        entries.get(id).filter(|(_, until)| *until > Instant::now()).and_then(|(value, _)| value.clone())
    }

    /// Remembers a value, or that the lookup failed.
    pub(super) fn put(&self, id: &str, value: Option<V>) {
        let ttl = if value.is_some() { NAME_TTL } else { FAILURE_TTL };
        let mut entries = lock(&self.entries);
        if entries.len() >= ENTRIES_MAX {
            let now = Instant::now();
            entries.retain(|_, (_, until)| *until > now);
            if entries.len() >= ENTRIES_MAX {
                entries.clear();
            }
        }
        entries.insert(id.to_owned(), (value, Instant::now() + ttl));
    }
}

/// Names of actors.
pub(super) type Names = Cache<String>;
/// Kinds of conversations.
pub(super) type Kinds = Cache<ConversationType>;

/// File ids seen in our own echoed messages, with the message's ts.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    seen: Mutex<VecDeque<(String, String, String)>>,
    arrived: Notify,
}

impl Echoes {
    /// Remembers that a file appeared in a conversation.
    pub(super) fn put(&self, channel: &str, file: String, ts: String) {
        let mut seen = lock(&self.seen);
        if seen.len() >= ECHOES_MAX {
            seen.pop_front();
        }
        seen.push_back((channel.to_owned(), file, ts));
        drop(seen);
        self.arrived.notify_waiters();
    }

    /// The ts under which a file appeared, if it did.
    pub(super) fn find(&self, channel: &str, file: &str) -> Option<String> {
        lock(&self.seen).iter().find(|(c, f, _)| c == channel && f == file).map(|(_, _, ts)| ts.clone())
    }

    /// Waits until a file appears, at most `wait`.
    pub(super) async fn wait(&self, channel: &str, file: &str, wait: Duration) -> Option<String> {
        let deadline = Instant::now() + wait;
        loop {
            let arrived = self.arrived.notified();
            if let Some(ts) = self.find(channel, file) {
                return Some(ts);
            }
            tokio::time::timeout_at(deadline, arrived).await.ok()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_are_forgotten_sooner_than_names() {
        let names = Names::default();
        names.put("U1", Some("Ann".into()));
        names.put("U2", None);
        assert_eq!((names.value("U1"), names.value("U2")), (Some("Ann".into()), None));
        assert!(names.is_known("U2") && !names.is_known("U3"));
        tokio::time::advance(Duration::from_secs(601)).await;
        assert!(names.is_known("U1") && !names.is_known("U2"));
        tokio::time::advance(NAME_TTL).await;
        assert!(!names.is_known("U1") && names.value("U1").is_none());
    }
}
