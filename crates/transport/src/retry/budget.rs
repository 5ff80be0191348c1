//! The retry budget: at most 20 % of a host's requests of the last minute, but at least ten.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(60);
const RETRIES_MIN: usize = 10;
const REQUESTS_PER_RETRY: usize = 5;
/// Times kept per host; beyond it the oldest are forgotten.
const TIMES_MAX: usize = 32_768;
/// Hosts that are remembered.
const HOSTS_MAX: usize = 4_096;

#[derive(Debug, Default)]
struct Host {
    requests: VecDeque<Instant>,
    retries: VecDeque<Instant>,
}

/// Counts requests and retries per host.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    hosts: Mutex<HashMap<String, Host>>,
}

impl Budget {
    /// Counts a first attempt.
    pub(crate) fn request(&self, host: &str) {
        self.with_host(host, |h| push(&mut h.requests));
    }

    /// Takes one retry out of the budget, if there is one.
    pub(crate) fn retry(&self, host: &str) -> bool {
        self.with_host(host, |h| {
            let allowed = (h.requests.len() / REQUESTS_PER_RETRY).max(RETRIES_MIN);
            let granted = h.retries.len() < allowed;
            if granted {
                push(&mut h.retries);
            }
            granted
        })
    }

    fn with_host<T>(&self, host: &str, act: impl FnOnce(&mut Host) -> T) -> T {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HOSTS_MAX {
            hosts.values_mut().for_each(Host::forget);
            hosts.retain(|_, h| !h.requests.is_empty());
        }
        let entry = hosts.entry(host.to_owned()).or_default();
        entry.forget();
        act(entry)
    }
}

impl Host {
    fn forget(&mut self) {
        let now = Instant::now();
        for times in [&mut self.requests, &mut self.retries] {
            while times.front().is_some_and(|t| now.duration_since(*t) >= WINDOW) {
                times.pop_front();
            }
        }
    }
}

fn push(times: &mut VecDeque<Instant>) {
    if times.len() >= TIMES_MAX {
        times.pop_front();
    }
    times.push_back(Instant::now());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-045: ten retries at first, then a fifth of the requests; a minute later the count starts anew.
    #[tokio::test(start_paused = true)]
    async fn cap_045_budget_counts() {
        let budget = Budget::default();
        budget.request("h");
        assert_eq!((0..50).filter(|_| budget.retry("h")).count(), 10);
        (0..99).for_each(|_| budget.request("h"));
        assert_eq!((0..50).filter(|_| budget.retry("h")).count(), 10);
        assert!(budget.retry("other"));
        tokio::time::advance(WINDOW).await;
        assert_eq!((0..50).filter(|_| budget.retry("h")).count(), 10);
    }
}
