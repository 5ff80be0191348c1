//! The text form of an event stream.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};
use loom_domain::Code;
use tokio::sync::OwnedSemaphorePermit;

use super::feed::{Item, Steps};
use crate::metrics::OpenStream;
use crate::{App, Problem, StreamEvent};

/// Time after which a refused reader may ask again.
const RETRY_MS: u64 = 15_000;

struct Open<F> {
    feed: F,
    _permit: OwnedSemaphorePermit,
    _counted: OpenStream,
}

/// Answers with a stream, unless too many are open.
pub(crate) fn answer<F: Steps>(app: &App, feed: F) -> Result<Response, Problem> {
    let permit = Arc::clone(app.streams()).try_acquire_owned().map_err(|_| {
        Problem::new(Code::RateLimited, "too many event streams are open").with_retry_after_ms(RETRY_MS)
    })?;
    let open = Open { feed, _permit: permit, _counted: app.doors().metrics.stream_opened() };
    let chunks = stream::unfold(open, |mut open| async move {
        let item = open.feed.next().await?;
        Some((Ok::<_, std::convert::Infallible>(text(&item)), open))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

pub(super) fn text(item: &Item) -> Bytes {
    match item {
        Item::Comment => Bytes::from_static(b":\n\n"),
        Item::Reset => Bytes::from_static(b"event: reset\ndata: {}\n\n"),
        Item::Event(event) => Bytes::from(event_text(event)),
    }
}

fn event_text(event: &StreamEvent) -> String {
    let mut text = event.seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    text.push_str("event: ");
    text.push_str(&event.kind);
    for line in event.data.lines() {
        text.push_str("\ndata: ");
        text.push_str(line);
    }
    text.push_str("\n\n");
    text
}
