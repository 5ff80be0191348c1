//! The request log: one line per attempt, without query values, headers or bodies.

mod file;
mod read;

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use loom_domain::Timestamp;
use serde::Serialize;

pub use file::FileLog;
pub use read::{Wanted, find, latest};

use crate::response::RateState;

/// One attempt as the log shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogEntry {
    /// When the attempt began.
    pub time: Timestamp,
    /// Id of the request.
    pub request_id: String,
    /// Run of a capability, if inside one.
    pub run_id: Option<String>,
    /// Turn, if inside one.
    pub turn_id: Option<String>,
    /// Agent, if inside a Turn.
    pub agent_id: Option<String>,
    /// Loom's own trace id.
    pub trace_id: String,
    /// Span id of the request.
    pub span_id: String,
    /// Trace id that a host outside sees.
    pub outer_trace_id: Option<String>,
    /// Attempt, from 1.
    pub attempt: u32,
    /// Provider the caller named.
    pub provider: Option<String>,
    /// Operation the caller named.
    pub operation: Option<String>,
    /// Method.
    pub method: String,
    /// Host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Redacted path.
    pub path: String,
    /// Names of the query parameters.
    pub query_keys: Vec<String>,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Code of the failure.
    pub error_code: Option<&'static str>,
    /// Phase of the failure.
    pub phase: Option<&'static str>,
    /// Address that was connected to.
    pub address: Option<String>,
    /// Body bytes of the request.
    pub bytes_sent: u64,
    /// Decoded body bytes of the answer.
    pub bytes_received: u64,
    /// Duration of the attempt.
    pub duration_ms: u64,
    /// Wait for the limiter before it.
    pub waited_ms: u64,
    /// Whether the answer came out of the cache.
    pub from_cache: bool,
    /// What the provider says about its limit.
    pub rate: Option<RateState>,
    /// The provider's own id of the request.
    pub provider_request_id: Option<String>,
}

/// Where attempts are logged.
pub trait RequestLog: Send + Sync + Debug {
    /// Appends one attempt. A failing log never fails a request.
    fn append(&self, entry: &LogEntry);
}

/// A log that keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl RequestLog for NoLog {
    fn append(&self, _: &LogEntry) {}
}

/// A log in memory, for tests.
#[derive(Debug, Default)]
pub struct MemoryLog {
    entries: Mutex<Vec<LogEntry>>,
}

impl MemoryLog {
    /// Everything logged so far.
    pub fn entries(&self) -> Vec<LogEntry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl RequestLog for MemoryLog {
    fn append(&self, entry: &LogEntry) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
    }
}
