//! Opens a connection and exchanges one request.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use loom_domain::{Code, Error, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Endpoint;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Keeps the connection running; ends it when dropped.
pub(super) struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends one request and gives the head of its answer.
pub(super) async fn exchange(
    endpoint: &Endpoint,
    request: Request<Full<Bytes>>,
    limit: Duration,
) -> Result<(Response<Incoming>, Driver)> {
    match endpoint {
        Endpoint::Unix(path) => {
            let stream = connected(endpoint, UnixStream::connect(path)).await?;
            speak(endpoint, stream, request, limit).await
        }
        Endpoint::Http { host, port } => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let stream = connected(endpoint, TcpStream::connect((host, *port))).await?;
            speak(endpoint, stream, request, limit).await
        }
    }
}

async fn connected<S>(endpoint: &Endpoint, connect: impl Future<Output = std::io::Result<S>>) -> Result<S> {
    match timeout(CONNECT_TIMEOUT, connect).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(unreachable(endpoint, &error)),
        Err(_) => Err(unreachable(endpoint, &"no connection in time")),
    }
}

async fn speak<S>(
    endpoint: &Endpoint,
    stream: S,
    request: Request<Full<Bytes>>,
    limit: Duration,
) -> Result<(Response<Incoming>, Driver)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(endpoint, &error))?;
    let driver = Driver(tokio::spawn(async move {
        // How the connection ended is told by the answer.
        drop(connection.await);
    }));
    match timeout(limit, sender.send_request(request)).await {
        Ok(Ok(response)) => Ok((response, driver)),
        Ok(Err(error)) => Err(unreachable(endpoint, &error)),
        Err(_) => Err(Error::new(
            Code::DeadlineExceeded,
            format!("the hub did not answer in {} s", limit.as_secs()),
        )),
    }
}

fn unreachable(endpoint: &Endpoint, cause: &dyn std::fmt::Display) -> Error {
    Error::new(Code::HubUnreachable, format!("no hub answers at {endpoint}"))
        .with_detail("cause", cause.to_string())
}
