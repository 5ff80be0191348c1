//! Answers: status, headers and a body that was read and capped.

use bytes::Bytes;
use http::HeaderMap;
use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the provider says about its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RateState {
    /// Requests per window.
    pub limit: Option<u64>,
    /// Requests left.
    pub remaining: Option<u64>,
    /// When the window ends: Unix seconds, as most providers send it.
    pub reset_at: Option<u64>,
}

impl RateState {
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let number = |name: &str| {
            let names = [
                format!("x-ratelimit-{name}"),
                format!("x-ogw-ratelimit-{name}"),
                format!("ratelimit-{name}"),
            ];
            names.iter().find_map(|n| headers.get(n.as_str())?.to_str().ok()?.trim().parse().ok())
        };
        let state =
            RateState { limit: number("limit"), remaining: number("remaining"), reset_at: number("reset") };
        (state.limit.is_some() || state.remaining.is_some() || state.reset_at.is_some()).then_some(state)
    }
}

/// How an answer came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Id of the request in the log.
    pub request_id: String,
    /// Attempts made.
    pub attempts: u32,
    /// Whether the answer came out of the cache.
    pub from_cache: bool,
    /// URL that answered, without a credential in it.
    pub final_url: String,
    /// Time from the call to the end of the body.
    pub elapsed_ms: u64,
    /// Time spent waiting for permits and retries.
    pub waited_ms: u64,
    /// What the provider says about its limit.
    pub rate: Option<RateState>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) meta: Meta,
}

impl Response {
    /// Status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// First value of a header, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body as JSON. The content type must say JSON, and the bytes must be UTF-8.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        if !self.is_json() {
            return Err(self.unreadable("the answer is not of a JSON content type"));
        }
        std::str::from_utf8(&self.body).map_err(|_| self.unreadable("the answer is not UTF-8"))?;
        serde_json::from_slice(&self.body).map_err(|error| self.unreadable(json_trouble(&error)))
    }

    /// The body as strict UTF-8 text.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|_| self.unreadable("the answer is not UTF-8"))
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// How the answer came about.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    fn is_json(&self) -> bool {
        let kind = self.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    }

    fn unreadable(&self, message: &str) -> Error {
        let mut error = Error::new(Code::ProviderProtocolError, message).with_detail("phase", "receive");
        error.http_status = Some(self.status);
        error.request_id = Some(self.meta.request_id.clone());
        error.attempts = Some(self.meta.attempts);
        error
    }
}

fn json_trouble(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "the JSON of the answer is truncated",
        serde_json::error::Category::Data => "the JSON of the answer does not have the expected form",
        _ => "the answer is not valid JSON",
    }
}
