//! Requests to the SEC. Pace, pauses and refusals are those of the transport's scope `sec`.
//!
//! Source of paths and members: «EDGAR Application Programming Interfaces»,
//! <https://www.sec.gov/search-filings/edgar-application-programming-interfaces>.

use std::time::Duration;

use loom_domain::{Code, Error, Result, Timestamp};
use loom_transport::{Method, RequestBuilder, SCOPE_SEC};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::contact;
use crate::{Cx, SourceRef};

/// Base of documents and of the list of tickers.
pub(super) const WWW: &str = "https://www.sec.gov";
/// Base of submissions and facts.
pub(super) const DATA: &str = "https://data.sec.gov";
/// Largest JSON answer that is read at once.
const JSON_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Longest wait for a permit: below the shortest pause, so that a caller in a new pause fails at once.
const DEADLINE_MAX: Duration = Duration::from_secs(300);
const DEADLINE_MIN: Duration = Duration::from_secs(1);

/// Both hosts of the SEC, and who asks.
pub(super) struct Sec<'a> {
    pub(super) cx: &'a Cx,
    agent: String,
    www: String,
    data: String,
}

/// When an answer was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) observed_at: Timestamp,
    pub(super) age_seconds: u64,
    pub(super) from_cache: bool,
}

impl Seen {
    pub(super) fn source(self, kind: &str, url: &str) -> SourceRef {
        let name = url.split_once("://").map_or(url, |(_, rest)| rest);
        let source = SourceRef::new(kind, name, Some(url.to_owned()), self.observed_at);
        SourceRef { age_seconds: self.age_seconds, from_cache: self.from_cache, ..source }
    }
}

impl<'a> Sec<'a> {
    /// Finds the contact; opens nothing.
    pub(super) fn open(cx: &'a Cx, contact: Option<&str>) -> Result<Self> {
        let agent = contact::user_agent(cx, contact)?;
        Ok(Sec { cx, agent, www: cx.api_base(WWW), data: cx.api_base(DATA) })
    }

    /// A URL of `www.sec.gov`.
    pub(super) fn www(&self, path: &str) -> String {
        format!("{}{path}", self.www)
    }

    /// A URL of `data.sec.gov`.
    pub(super) fn data(&self, path: &str) -> String {
        format!("{}{path}", self.data)
    }

    /// A request in the scope of the SEC, with the contact.
    pub(super) fn request(&self, url: &str) -> Result<RequestBuilder> {
        let left = self.cx.deadline().map(|at| at.saturating_duration_since(Instant::now()));
        let request = self.cx.request(Method::GET, url)?.header("user-agent", &self.agent).scope(SCOPE_SEC);
        Ok(match left {
            Some(left) => request.deadline(left.clamp(DEADLINE_MIN, DEADLINE_MAX)),
            None => request,
        })
    }

    /// Reads a JSON document; it is asked for conditionally when this process has read it before.
    pub(super) async fn json<T: DeserializeOwned>(&self, url: &str) -> Result<(T, Seen)> {
        let request = self.request(url)?.header("accept", "application/json").max_body_bytes(JSON_BYTES_MAX);
        let response = request.cache(self.cx.cache_key()).send().await?;
        let age = response.header("age").and_then(|age| age.trim().parse().ok());
        let from_cache = response.meta().from_cache;
        // A confirmed answer is as old as its confirmation.
        let age_seconds = if from_cache { 0 } else { age.unwrap_or(0) };
        Ok((response.json()?, Seen { observed_at: self.cx.now(), age_seconds, from_cache }))
    }
}

/// An answer that cannot be read.
pub(super) fn unreadable(message: impl Into<String>) -> Error {
    let mut error = Error::new(Code::ProviderProtocolError, message).with_detail("phase", "receive");
    error.provider = Some("sec".to_owned());
    error
}
