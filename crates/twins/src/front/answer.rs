//! HTTP answers, and the ways they fail to arrive.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::Frame;
use serde_json::Value;

/// Body of any answer.
pub(crate) type Body = BoxBody<Bytes, Cut>;

/// The connection ends here, on purpose.
#[derive(Debug, thiserror::Error)]
#[error("connection cut by a planned failure")]
pub(crate) struct Cut;

/// A complete answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
}

/// What happens to a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answer(Answer),
    /// The connection closes without an answer.
    Close,
    /// The head and some bytes arrive, then the connection breaks.
    Truncated(Answer, usize),
}

impl Answer {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let body = Bytes::from(value.to_string());
        Self { status, content_type: "application/json; charset=utf-8".into(), headers: Vec::new(), body }
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8".into(),
            headers: Vec::new(),
            body: Bytes::from(text.to_owned()),
        }
    }

    pub(crate) fn html(status: u16, text: &str) -> Self {
        Self { content_type: "text/html; charset=utf-8".into(), ..Self::text(status, text) }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn head(&self) -> http::response::Builder {
        let mut head = Response::builder().status(self.status).header("content-type", &self.content_type);
        for (name, value) in &self.headers {
            head = head.header(*name, value);
        }
        head
    }

    pub(crate) fn into_response(self) -> Result<Response<Body>, Cut> {
        Outcome::Answer(self).into_response()
    }
}

impl Outcome {
    pub(crate) fn into_response(self) -> Result<Response<Body>, Cut> {
        match self {
            Self::Close => Err(Cut),
            Self::Answer(answer) => {
                let body = Full::new(answer.body.clone()).map_err(|never| match never {}).boxed();
                answer.head().body(body).map_err(|_| Cut)
            }
            Self::Truncated(answer, bytes) => {
                let sent = answer.body.slice(..bytes.min(answer.body.len()));
                let head = answer.head().header("content-length", answer.body.len());
                head.body(cut_after(sent)).map_err(|_| Cut)
            }
        }
    }
}

/// A body that gives the bytes, lets them leave, and then fails.
fn cut_after(sent: Bytes) -> Body {
    let steps = stream::unfold(Some(sent), |sent| async move {
        if let Some(sent) = sent {
            return Some((Ok(Frame::data(sent)), None));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Err(Cut), None))
    });
    BodyExt::boxed(StreamBody::new(steps))
}
