//! A backend that answers by script. It opens nothing, and what it did not expect fails with a diff.

mod expect;
mod fault;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;

use super::{HttpBackend, Prepared, RawResponse};
use crate::fault::{FaultKind, NetworkFault, Phase, Written};

pub use expect::Expectation;
pub use fault::Answer;

/// A request as the mock saw it, with every tracing header.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Method.
    pub method: String,
    /// URL with its query.
    pub url: String,
    /// Headers as the host sees them.
    pub wire_headers: HeaderMap,
    /// Headers with the tracing headers that the host may not see.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
}

/// Expectations, in order of writing, and what was seen.
#[derive(Debug, Default)]
pub struct MockBackend {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    expected: Vec<Expectation>,
    seen: Vec<Seen>,
    unmatched: Vec<String>,
}

impl MockBackend {
    /// A mock that expects nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an expectation. The first one that matches and is not used up answers.
    pub fn expect(&self, expectation: Expectation) {
        self.lock().expected.push(expectation);
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }

    /// Checks that everything expected happened and nothing else; the error is the diff.
    pub fn verify(&self) -> Result<(), String> {
        let state = self.lock();
        let unmet = state.expected.iter().filter_map(Expectation::unmet);
        let unmatched = state.unmatched.iter().map(|u| format!("unexpected: {u}"));
        let diff: Vec<String> = unmet.chain(unmatched).collect();
        if diff.is_empty() { Ok(()) } else { Err(diff.join("\n")) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, seen: &Seen) -> Result<Answer, NetworkFault> {
        let mut state = self.lock();
        let found = state.expected.iter_mut().find(|e| e.open() && e.mismatches(seen).is_empty());
        let answer = found.map(Expectation::next_answer);
        state.seen.push(seen.clone());
        if let Some(answer) = answer {
            return Ok(answer);
        }
        let reasons: Vec<String> = state.expected.iter().map(|e| e.explain(seen)).collect();
        let diff = format!("{} {}: {}", seen.method, seen.url, reasons.join("; "));
        state.unmatched.push(diff.clone());
        Err(NetworkFault {
            kind: FaultKind::Protocol,
            phase: Phase::Replay,
            written: Written::No,
            message: format!("the mock did not expect {diff}"),
        })
    }
}

#[async_trait]
impl HttpBackend for MockBackend {
    async fn execute(&self, request: Prepared) -> Result<RawResponse, NetworkFault> {
        let body = request.body.collect().await.unwrap_or_default();
        let mut headers = request.headers.clone();
        for (name, value) in &request.trace_headers {
            headers.insert(name, value.clone());
        }
        let seen = Seen {
            method: request.method.to_string(),
            url: request.url.to_string(),
            wire_headers: request.headers,
            headers,
            body,
        };
        self.answer(&seen)?.play(request.read_timeout).await
    }

    fn resolves(&self) -> bool {
        false
    }
}

/// Splits bytes into a body stream.
fn one_chunk(bytes: Bytes) -> futures_util::stream::BoxStream<'static, Result<Bytes, NetworkFault>> {
    Box::pin(futures_util::stream::once(async move { Ok(bytes) }))
}

/// Waits for the stall or the silence limit, whichever is shorter.
async fn stall(stall: Duration, read_timeout: Duration) -> Result<(), NetworkFault> {
    if stall < read_timeout {
        tokio::time::sleep(stall).await;
        return Ok(());
    }
    tokio::time::sleep(read_timeout).await;
    Err(NetworkFault::timeout(Phase::Read))
}
