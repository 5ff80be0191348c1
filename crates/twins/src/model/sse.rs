//! Server-sent events: what a dialect wants to send, and the body that sends it.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// One step of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// An event with a name.
    Named(&'static str, Value),
    /// An event without one.
    Plain(Value),
    /// The mark that ends a Chat Completions stream.
    Done,
    /// A wait.
    Wait(Duration),
    /// Break the connection.
    Cut,
}

impl Step {
    /// An event named by its own `type`.
    pub(super) fn typed(kind: &'static str, mut body: Value) -> Step {
        if let Some(map) = body.as_object_mut() {
            map.insert("type".to_owned(), kind.into());
        }
        Step::Named(kind, body)
    }

    fn bytes(&self) -> Option<Bytes> {
        match self {
            Step::Named(name, body) => Some(format!("event: {name}\ndata: {body}\n\n").into()),
            Step::Plain(body) => Some(format!("data: {body}\n\n").into()),
            Step::Done => Some(Bytes::from_static(b"data: [DONE]\n\n")),
            Step::Wait(_) | Step::Cut => None,
        }
    }
}

/// A body that plays the steps and ends early when the twin stops.
pub(super) fn body(steps: Vec<Step>, stop: CancellationToken) -> Body {
    let state = (steps.into_iter(), stop);
    Body::from_stream(stream::unfold(state, |(mut steps, stop)| async move {
        loop {
            match steps.next()? {
                Step::Cut => {
                    // Lets what was written so far reach the client before the connection breaks.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    return Some((Err(std::io::Error::other("cut as asked")), (steps, stop)));
                }
                Step::Wait(time) => tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = stop.cancelled() => return None,
                },
                step => {
                    let bytes = step.bytes().unwrap_or_default();
                    return Some((Ok(bytes), (steps, stop)));
                }
            }
        }
    }))
}
