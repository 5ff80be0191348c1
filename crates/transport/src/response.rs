//! Answers: status, headers and a body that was read and capped.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use http::HeaderMap;
use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cache::Slot;

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
    pub(crate) slot: Option<Slot>,
    pub(crate) projection: Option<Arc<Value>>,
    pub(crate) decoded: OnceLock<String>,
}

impl Response {
    pub(crate) fn new(status: u16, headers: HeaderMap, body: Bytes, meta: Meta) -> Self {
        Response { status, headers, body, meta, slot: None, projection: None, decoded: OnceLock::new() }
    }

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

    /// The body as text: strict UTF-8, or strictly the charset that the content type declares (Encoding Standard).
    pub fn text(&self) -> Result<&str> {
        let charset = self.charset()?;
        if charset == UTF_8 {
            return std::str::from_utf8(&self.body).map_err(|_| self.unreadable("the answer is not UTF-8"));
        }
        if let Some(text) = self.decoded.get() {
            return Ok(text);
        }
        let text = charset.decode_without_bom_handling_and_without_replacement(&self.body);
        let text = text.ok_or_else(|| self.unreadable("the answer is not of its declared charset"))?;
        Ok(self.decoded.get_or_init(|| text.into_owned()))
    }

    fn charset(&self) -> Result<&'static Encoding> {
        let kind = self.header("content-type").unwrap_or_default();
        let label = kind.split(';').skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
        });
        let unknown = || self.unreadable("the declared charset of the answer is unknown");
        label.map_or(Ok(UTF_8), |label| Encoding::for_label(label.as_bytes()).ok_or_else(unknown))
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The projection that was kept of this answer, if it is confirmed by a 304. Only a status of 304 has no body.
    pub fn projection(&self) -> Option<&Value> {
        self.projection.as_deref()
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
