//! One request, built member by member.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, header};
use http_body_util::Full;
use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connect::exchange;
use super::{Client, EventStream, answer};
use crate::routes::DRY_RUN;

/// Longest wait for an answer that does not wait by itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time the hub waits for the end of a send, seconds.
pub(super) const WAIT_SECONDS_MAX: u64 = 60;
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// One request to the hub.
#[must_use = "a call does nothing until it is run"]
pub struct Call<'a> {
    client: &'a Client,
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<Bytes>,
    content_type: &'static str,
    wait_seconds: u64,
}

impl<'a> Call<'a> {
    pub(super) fn new(client: &'a Client, method: Method, path: String) -> Self {
        let empty = (method == Method::POST).then(|| Bytes::from_static(b"{}"));
        Call {
            client,
            method,
            path,
            query: Vec::new(),
            body: empty,
            content_type: "application/json",
            wait_seconds: 0,
        }
    }

    /// Adds the members of a query object of `crate::query`.
    pub fn query(mut self, query: &impl Serialize) -> Result<Self> {
        if let Value::Object(members) = serde_json::to_value(query).map_err(Error::internal)? {
            self.query.extend(members.into_iter().filter_map(|(key, value)| Some((key, plain(value)?))));
        }
        Ok(self)
    }

    /// Asks for a plan only.
    pub fn dry_run(mut self, yes: bool) -> Self {
        if yes {
            self.query.push((DRY_RUN.to_owned(), "true".to_owned()));
        }
        self
    }

    /// Gives the body as a JSON document.
    pub fn json(mut self, body: &impl Serialize) -> Result<Self> {
        self.body = Some(serde_json::to_vec(body).map_err(Error::internal)?.into());
        Ok(self)
    }

    /// Gives the body as raw bytes.
    pub fn bytes(mut self, body: Bytes) -> Self {
        self.body = Some(body);
        self.content_type = "application/octet-stream";
        self
    }

    /// Asks the hub to wait for the end of a send, at most 60 seconds.
    pub fn wait(mut self, seconds: u64) -> Self {
        self.wait_seconds = seconds.min(WAIT_SECONDS_MAX);
        self
    }

    /// Sends the request and reads the answer. `Value` keeps every member of it.
    pub async fn run<T: DeserializeOwned>(self) -> Result<T> {
        let bytes = self.run_bytes().await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::new(Code::ProtocolVersion, format!("the hub's answer could not be read: {error}"))
        })
    }

    /// Sends the request and gives the answer's bytes.
    pub async fn run_bytes(self) -> Result<Bytes> {
        let limit = ANSWER_TIMEOUT + Duration::from_secs(self.wait_seconds);
        let request = self.request("application/json")?;
        let (response, _driver) = exchange(&self.client.endpoint, request, limit).await?;
        answer::read(response, limit).await
    }

    /// Sends the request and gives its stream of events.
    pub async fn stream(self, last_id: Option<u64>) -> Result<EventStream> {
        let mut request = self.request("text/event-stream")?;
        if let Some(id) = last_id {
            request.headers_mut().insert("last-event-id", HeaderValue::from(id));
        }
        let (response, driver) = exchange(&self.client.endpoint, request, ANSWER_TIMEOUT).await?;
        if !response.status().is_success() {
            return Err(answer::read(response, ANSWER_TIMEOUT).await.err().unwrap_or_else(no_stream));
        }
        Ok(EventStream::new(response.into_body(), driver))
    }

    fn request(&self, accept: &'static str) -> Result<Request<Full<Bytes>>> {
        let mut builder = Request::builder()
            .method(self.method.clone())
            .uri(self.target())
            .header(header::HOST, self.client.endpoint.authority())
            .header(header::ACCEPT, accept);
        if let Some(token) = &self.client.token {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                Error::new(Code::Unauthenticated, "the token holds characters that no token has")
            })?;
            value.set_sensitive(true);
            builder = builder.header(header::AUTHORIZATION, value);
        }
        if self.wait_seconds > 0 {
            builder = builder.header(PREFER, format!("wait={}", self.wait_seconds));
        }
        if self.body.is_some() {
            builder = builder.header(header::CONTENT_TYPE, self.content_type);
        }
        builder.body(Full::new(self.body.clone().unwrap_or_default())).map_err(Error::internal)
    }

    fn target(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn no_stream() -> Error {
    Error::new(Code::ProtocolVersion, "the hub gave no event stream")
}
