//! A body as it arrives, decoded and capped; as bytes, lines, JSON lines or server-sent events.

mod lines;
mod sse;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use http::HeaderMap;
use loom_domain::{Code, Error, Result};
use serde::de::DeserializeOwned;

use crate::response::Meta;
use lines::{Ends, lines};

pub use sse::SseEvent;

/// The answer to a download. Dropping it closes the connection.
pub struct ByteStream {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) meta: Meta,
    pub(crate) body: BoxStream<'static, Result<Bytes>>,
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteStream").field("status", &self.status).finish_non_exhaustive()
    }
}

impl ByteStream {
    /// Status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// First value of a header, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Length the host announced, before decoding.
    pub fn content_length(&self) -> Option<u64> {
        self.header("content-length")?.parse().ok()
    }

    /// How the answer came about.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The next bytes; `None` at the end. After an error nothing more comes.
    pub async fn chunk(&mut self) -> Option<Result<Bytes>> {
        self.body.next().await
    }

    /// The bytes as they come.
    pub fn bytes(self) -> BoxStream<'static, Result<Bytes>> {
        self.body
    }

    /// The lines, without LF or CRLF; an open last line counts. A line of more than 1 MiB is
    /// `provider_response_too_large`, one that is not UTF-8 `provider_protocol_error`.
    pub fn lines(self) -> BoxStream<'static, Result<String>> {
        lines(self, Ends::Newline)
    }

    /// One value a line; empty lines are passed over. What is not such a value is `provider_protocol_error`. Lines
    /// have the limit of [`ByteStream::lines`], values a depth of 128.
    pub fn ndjson<T: DeserializeOwned + Send + 'static>(self) -> BoxStream<'static, Result<T>> {
        let name = self.name();
        let values = lines(self, Ends::Newline).try_filter(|line| {
            let filled = !line.trim().is_empty();
            async move { filled }
        });
        let values = values.map(move |line| {
            serde_json::from_str(&line?).map_err(|_| {
                name.stamp(Error::new(
                    Code::ProviderProtocolError,
                    "a line of the answer is not the expected JSON",
                ))
            })
        });
        until_error(values)
    }

    /// The events of a `text/event-stream`; an unfinished last one is dropped. Their data has a limit of 1 MiB, and
    /// another content type is `provider_protocol_error`.
    pub fn sse(self) -> BoxStream<'static, Result<SseEvent>> {
        let name = self.name();
        let kind = self.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case("text/event-stream") {
            let error = Error::new(Code::ProviderProtocolError, "the answer is no stream of events");
            return stream::once(async move { Err(name.stamp(error)) }).boxed();
        }
        let mut gatherer = sse::Gatherer::default();
        let events = lines(self, Ends::AnyReturn).filter_map(move |line| {
            let event = line.and_then(|line| gatherer.push(&line).map_err(|error| name.stamp(error)));
            async move { event.transpose() }
        });
        until_error(events)
    }

    fn name(&self) -> Name {
        Name { status: self.status, request_id: self.meta.request_id.clone(), attempts: self.meta.attempts }
    }

    /// Adds the ids of this answer to an error about its body.
    fn named(&self, error: Error) -> Error {
        self.name().stamp(error)
    }
}

/// What an error about a body says of its answer.
struct Name {
    status: u16,
    request_id: String,
    attempts: u32,
}

impl Name {
    fn stamp(&self, mut error: Error) -> Error {
        error.http_status = Some(self.status);
        error.request_id = Some(self.request_id.clone());
        error.attempts = Some(self.attempts);
        error.with_detail("phase", "receive")
    }
}

/// Ends a stream after its first error.
fn until_error<T: Send + 'static>(
    values: impl Stream<Item = Result<T>> + Send + 'static,
) -> BoxStream<'static, Result<T>> {
    values
        .scan(false, |failed, value| {
            let given = (!*failed).then_some(value);
            *failed = given.as_ref().is_some_and(Result::is_err);
            async move { given }
        })
        .boxed()
}

impl Stream for ByteStream {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.body.as_mut().poll_next(cx)
    }
}
