//! One connection: HTTP/1.1 requests one after another, within the limits of guard 1.

use std::future::poll_fn;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer};
use super::linger;
use super::pulse::Pulse;
use super::timed::Timed;
use crate::{App, Peer, RequestLimits};

/// Room for the request line and its ends beside the header fields.
const LINE_SLACK_BYTES: usize = 4 * 1024;
/// Least buffer of the parser.
const BUFFER_BYTES_MIN: usize = 8 * 1024;

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

type Answering = BoxFuture<'static, Result<Answer, std::convert::Infallible>>;

/// Serves the connection to its end.
pub(super) async fn serve<S: Stream>(
    stream: S,
    peer: Peer,
    pulse: Pulse,
    app: App,
    router: axum::Router,
    stop: CancellationToken,
) {
    let limits = app.config().connections.clone();
    let io = TokioIo::new(Timed::new(stream, pulse.clone(), limits.write_stall));
    let request_limits = app.config().requests.clone();
    let of_requests = pulse.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| -> Answering {
        let work = of_requests.work();
        answer::answer(app.clone(), router.clone(), peer.clone(), request, work).map(Ok).boxed()
    });
    let mut connection = builder(&request_limits).serve_connection(io, service);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => break ended,
            () = pulse.overdue(&limits) => return,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if let Err(error) = &ended {
        tracing::debug!(%error, "a connection ended early");
    }
    linger::close(connection.into_parts().io.into_inner().into_inner()).await;
}

fn builder(limits: &RequestLimits) -> http1::Builder {
    let buffer_bytes = limits.header_bytes_max + limits.uri_bytes_max + LINE_SLACK_BYTES;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // The pulse watches the head and idle times together.
        .header_read_timeout(None)
        .max_buf_size(buffer_bytes.max(BUFFER_BYTES_MIN));
    builder
}
