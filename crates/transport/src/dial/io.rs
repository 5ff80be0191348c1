//! A connected byte stream that notes when bytes last moved and whether any were written.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// What moved on a socket.
#[derive(Debug)]
pub(crate) struct Activity {
    written: AtomicU64,
    last: Mutex<Instant>,
}

impl Activity {
    fn new() -> Self {
        Activity { written: AtomicU64::new(0), last: Mutex::new(Instant::now()) }
    }

    /// Bytes written so far by the one who holds the socket.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// When a byte last moved, or the silence was last reset.
    pub(crate) fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a new silence.
    pub(crate) fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A connection that went through the egress rules.
pub struct Socket {
    inner: Box<dyn Bytes>,
    activity: Arc<Activity>,
}

impl Socket {
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Socket { inner: Box::new(stream), activity: Arc::new(Activity::new()) }
    }

    pub(crate) fn tls(stream: tokio_rustls::client::TlsStream<Socket>) -> Self {
        Socket { inner: Box::new(stream), activity: Arc::new(Activity::new()) }
    }

    pub(crate) fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.activity)
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("activity", &self.activity).finish_non_exhaustive()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.activity.touch();
        }
        polled
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        // Counted before the write: a reader of the counter never sees less than what has left.
        self.activity.written.fetch_add(buf.len() as u64, Ordering::SeqCst);
        let polled = Pin::new(&mut self.inner).poll_write(cx, buf);
        if let Poll::Ready(Ok(_)) = polled {
            self.activity.touch();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
