//! Effects, counted where requests leave.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use loom_transport::log::{LogEntry, NoLog, RequestLog};
use serde::{Deserialize, Serialize};

use crate::Effect;

/// Most requests that are watched at once.
const WATCHED_MAX: usize = 100_000;
/// Most request ids that a run names.
const NAMED_MAX: usize = 100;

/// What a run did to the outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Effects {
    /// Requests whose first byte was written.
    pub requests_sent: u64,
    /// Answers 2xx or 304 that were read.
    pub external_reads: u64,
    /// Confirmed writes.
    pub external_writes: u64,
    /// Writes of which it is not known whether they happened.
    pub external_writes_unknown: u64,
    /// Whether anything was kept here.
    pub state_written: bool,
}

#[derive(Debug, Default)]
struct Counts {
    effects: Effects,
    waited_ms: u64,
    request_ids: Vec<String>,
    address: Option<String>,
}

impl Effects {
    /// Adds what another run did.
    pub fn add(&mut self, more: Effects) {
        self.requests_sent += more.requests_sent;
        self.external_reads += more.external_reads;
        self.external_writes += more.external_writes;
        self.external_writes_unknown += more.external_writes_unknown;
        self.state_written |= more.state_written;
    }
}

/// The counts of one run.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

impl Tally {
    pub(crate) fn effects(&self) -> Effects {
        self.lock().effects
    }

    pub(crate) fn waited_ms(&self) -> u64 {
        self.lock().waited_ms
    }

    pub(crate) fn request_ids(&self) -> Vec<String> {
        self.lock().request_ids.clone()
    }

    /// The family of the address that was connected to last.
    pub(crate) fn address_family(&self) -> Option<&'static str> {
        let address = self.lock().address.clone()?;
        let address: std::net::SocketAddr = address.parse().ok()?;
        Some(if address.is_ipv4() { "ipv4" } else { "ipv6" })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts writes that a hub made for the run: its own requests are no requests of the run.
    pub(crate) fn wrote(&self, confirmed: u64, unknown: u64) {
        let effects = &mut self.lock().effects;
        effects.external_writes += confirmed;
        effects.external_writes_unknown += unknown;
        effects.state_written = true;
    }

    fn count(&self, entry: &LogEntry, effect: Effect) {
        let mut counts = self.lock();
        counts.waited_ms = counts.waited_ms.saturating_add(entry.waited_ms);
        if entry.address.is_some() {
            counts.address.clone_from(&entry.address);
        }
        if !was_written(entry) {
            return;
        }
        if counts.request_ids.len() < NAMED_MAX && counts.request_ids.last() != Some(&entry.request_id) {
            counts.request_ids.push(entry.request_id.clone());
        }
        let effects = &mut counts.effects;
        effects.requests_sent += 1;
        let good =
            entry.error_code.is_none() && entry.status.is_some_and(|s| (200..300).contains(&s) || s == 304);
        match effect {
            Effect::Read if good => effects.external_reads += 1,
            Effect::Write if good => effects.external_writes += 1,
            // Without a status nobody said whether it happened.
            Effect::Write if entry.status.is_none() => effects.external_writes_unknown += 1,
            Effect::Read | Effect::Write => {}
        }
    }
}

/// Whether the first byte of the attempt was written.
fn was_written(entry: &LogEntry) -> bool {
    match (entry.status, entry.error_code, entry.phase) {
        (Some(_), _, _) => !entry.from_cache,
        (None, Some(_), Some("dns" | "connect" | "tls" | "proxy" | "replay") | None) => false,
        // An attempt that was given up in the middle may have been written.
        (None, _, _) => true,
    }
}

/// Counts the attempts of the runs that share a transport. Hand it to the transport as its log.
#[derive(Debug, Clone)]
pub struct Meter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    inner: Arc<dyn RequestLog>,
    watched: Mutex<HashMap<String, (Arc<Tally>, Effect)>>,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::over(Arc::new(NoLog))
    }
}

impl Meter {
    /// Counts, and hands every line on to a log.
    pub fn over(inner: Arc<dyn RequestLog>) -> Self {
        Meter(Arc::new(Shared { inner, watched: Mutex::default() }))
    }

    /// The log that a transport is built with.
    pub fn log(&self) -> Arc<dyn RequestLog> {
        Arc::new(self.clone())
    }

    pub(crate) fn watch(&self, request_id: &str, effect: Effect, tally: &Arc<Tally>) {
        let mut watched = self.0.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() >= WATCHED_MAX {
            watched.retain(|_, (tally, _)| Arc::strong_count(tally) > 1);
        }
        watched.insert(request_id.to_owned(), (Arc::clone(tally), effect));
    }
}

impl RequestLog for Meter {
    fn append(&self, entry: &LogEntry) {
        let watched = self.0.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tally, effect)) = watched.get(&entry.request_id) {
            tally.count(entry, *effect);
        }
        drop(watched);
        self.0.inner.append(entry);
    }
}
