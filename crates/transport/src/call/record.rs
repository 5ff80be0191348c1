//! The log line of an attempt, written when the attempt or its stream ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Call, Failure, millis};
use crate::backend::{Prepared, RawResponse};
use crate::egress::Target;
use crate::log::{LogEntry, RequestLog};
use crate::response::RateState;
use crate::trace::Exposure;

/// Longest provider request id that is kept.
const PROVIDER_ID_CHARS: usize = 128;
/// Headers in which providers name their request.
const PROVIDER_ID_HEADERS: [&str; 4] =
    ["x-request-id", "x-github-request-id", "x-slack-req-id", "x-tt-logid"];

/// The redactor, which has nothing to show of itself.
#[derive(Clone)]
struct Mask(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

/// An attempt that is being logged; written once, at the latest when dropped.
#[derive(Debug)]
pub(super) struct Record {
    log: Arc<dyn RequestLog>,
    redact: Mask,
    started: Instant,
    entry: Option<LogEntry>,
}

impl Record {
    pub(super) fn start(call: &Call, target: &Target, waited: Duration) -> Self {
        let core = call.core();
        let outer = call.exposure(target) == Exposure::Outer;
        let entry = LogEntry {
            time: core.clock.now(),
            request_id: call.trace.request_id.clone(),
            run_id: call.trace.run_id.clone(),
            turn_id: call.trace.turn_id.clone(),
            agent_id: call.trace.agent_id.clone(),
            trace_id: call.trace.trace_id.clone(),
            span_id: call.trace.span_id.clone(),
            outer_trace_id: outer.then(|| call.trace.outer_id(&core.key, &target.host)),
            attempt: call.attempts,
            provider: call.spec.provider.clone(),
            operation: call.spec.operation.clone(),
            method: call.spec.method.to_string(),
            host: target.host.clone(),
            port: target.port,
            path: redacted_path(call),
            query_keys: call.url.query_pairs().map(|(key, _)| key.into_owned()).collect(),
            status: None,
            error_code: None,
            phase: None,
            address: None,
            bytes_sent: 0,
            bytes_received: 0,
            duration_ms: 0,
            waited_ms: millis(waited),
            from_cache: false,
            rate: None,
            provider_request_id: None,
        };
        let redact = Mask(Arc::clone(&core.redact));
        Record { log: Arc::clone(&core.log), redact, started: Instant::now(), entry: Some(entry) }
    }

    /// Moves the record out, for a body that outlives its attempt.
    pub(super) fn take(&mut self) -> Record {
        let (log, redact) = (Arc::clone(&self.log), self.redact.clone());
        Record { log, redact, started: self.started, entry: self.entry.take() }
    }

    pub(super) fn sends(&mut self, prepared: &Prepared) {
        self.note(|e| e.bytes_sent = prepared.body.len());
    }

    pub(super) fn answered(&mut self, raw: &RawResponse) {
        let id = PROVIDER_ID_HEADERS.iter().find_map(|n| raw.headers.get(*n)?.to_str().ok());
        // A provider may echo anything in a header.
        let redact = &self.redact.0;
        let id = id.map(|id| redact(id).chars().take(PROVIDER_ID_CHARS).collect());
        self.note(|e| {
            e.status = Some(raw.status);
            e.from_cache = raw.status == 304;
            e.address = raw.address.map(|a| a.to_string());
            e.rate = RateState::read(&raw.headers);
            e.provider_request_id = id;
        });
    }

    /// Notes a switch of protocols.
    pub(super) fn switched(&mut self) {
        self.note(|e| e.status = Some(101));
        self.ended();
    }

    pub(super) fn received(&mut self, bytes: usize) {
        self.note(|e| e.bytes_received += bytes as u64);
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        self.note(|e| match failure {
            Failure::Refused(error) => {
                e.error_code = Some(error.code.as_str());
                e.bytes_sent = 0;
            }
            Failure::Fault(fault, _) => {
                e.error_code = Some(fault.code().as_str());
                e.phase = Some(fault.phase.as_str());
                if fault.written == crate::Written::No {
                    e.bytes_sent = 0;
                }
            }
        });
        self.ended();
    }

    pub(super) fn ended(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.duration_ms = millis(self.started.elapsed());
            self.log.append(&entry);
        }
    }

    fn note(&mut self, change: impl FnOnce(&mut LogEntry)) {
        if let Some(entry) = &mut self.entry {
            change(entry);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.ended();
    }
}

fn redacted_path(call: &Call) -> String {
    let redact = &call.core().redact;
    call.url.path().split('/').map(|segment| redact(segment)).collect::<Vec<_>>().join("/")
}
