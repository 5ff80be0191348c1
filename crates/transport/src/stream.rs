//! A body as it arrives, decoded and capped.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::{BoxStream, StreamExt};
use http::HeaderMap;
use loom_domain::Result;

use crate::response::Meta;

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
}

impl Stream for ByteStream {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.body.as_mut().poll_next(cx)
    }
}
