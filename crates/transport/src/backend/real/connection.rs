//! One HTTP/1.1 connection. Its task ends with it, and its faults say what was written.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::WireBody;
use crate::backend::{HEAD_BYTES_MAX, HEADERS_MAX};
use crate::dial::{Activity, Socket};
use crate::fault::{FaultKind, NetworkFault, Phase, Written};

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    sender: SendRequest<WireBody>,
    task: JoinHandle<()>,
    activity: Arc<Activity>,
    address: SocketAddr,
    requests: u32,
    pub(super) rested_at: Instant,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connection {
    pub(super) async fn open(socket: Socket, address: SocketAddr) -> Result<Self, NetworkFault> {
        let activity = socket.activity();
        let handshake = http1::Builder::new()
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .handshake(TokioIo::new(socket))
            .await;
        let (sender, connection) = handshake
            .map_err(|_| NetworkFault::network(Phase::Connect, "the connection could not be used"))?;
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
        Ok(Connection { sender, task, activity, address, requests: 0, rested_at: Instant::now() })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn reused(&self) -> bool {
        self.requests > 1
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed() && !self.task.is_finished()
    }

    /// Writes the request and waits for the head of the answer.
    pub(super) async fn send(
        &mut self,
        request: http::Request<WireBody>,
        read_timeout: Duration,
    ) -> Result<http::Response<Incoming>, NetworkFault> {
        self.requests += 1;
        self.activity.touch();
        let before = self.activity.written();
        let activity = Arc::clone(&self.activity);
        let sent = async {
            self.sender.ready().await?;
            self.sender.send_request(request).await
        };
        match heard(sent, &activity, read_timeout).await {
            None => Err(NetworkFault::timeout(Phase::Read)),
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => {
                // The fault is reported after the connection let go of the request, so the count is final.
                let written = if activity.written() == before { Written::No } else { Written::Maybe };
                Err(fault_of(&error, written))
            }
        }
    }

    /// The next bytes of the body; `None` at its end.
    pub(super) async fn next_data(
        &self,
        body: &mut Incoming,
        read_timeout: Duration,
    ) -> Result<Option<Bytes>, NetworkFault> {
        self.activity.touch();
        loop {
            match heard(body.frame(), &self.activity, read_timeout).await {
                None => return Err(NetworkFault::timeout(Phase::Read)),
                Some(None) => return Ok(None),
                Some(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Some(Some(Err(_))) => {
                    return Err(NetworkFault::network(Phase::Receive, "the answer broke off"));
                }
            }
        }
    }
}

/// Waits for the future, but not longer than the silence limit without a byte moving.
async fn heard<T>(work: impl Future<Output = T>, activity: &Activity, silence: Duration) -> Option<T> {
    let mut work = std::pin::pin!(work);
    loop {
        let until = activity.last() + silence;
        if let Ok(done) = timeout_at(until, work.as_mut()).await {
            return Some(done);
        }
        if activity.last() + silence <= Instant::now() {
            return None;
        }
    }
}

fn fault_of(error: &hyper::Error, written: Written) -> NetworkFault {
    if error.is_parse_too_large() {
        return NetworkFault::receive(FaultKind::TooLarge, "the head of the answer is too large");
    }
    if error.is_parse() {
        return NetworkFault::receive(FaultKind::Protocol, "the answer is not HTTP");
    }
    let (phase, message) = match written {
        Written::No => (Phase::Send, "the connection was closed before the request was written"),
        Written::Maybe if error.is_incomplete_message() => {
            (Phase::Receive, "the connection was closed without an answer")
        }
        Written::Maybe => (Phase::Receive, "the connection broke before an answer came"),
    };
    let kind = if error.is_user() { FaultKind::Body } else { FaultKind::Network };
    NetworkFault { kind, phase, written, message: message.to_owned() }
}
