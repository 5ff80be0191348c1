//! Opening one socket: a fresh ticket, the connection, the hello.

use std::time::Duration;

use futures_util::StreamExt;
use loom_transport::WebSocket;
use serde_json::json;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::super::Inner;
use super::super::errors::{Effect, transport_fault};
use super::super::wire::{Envelope, Frame, Hello, text};
use crate::{Fault, FaultClass};

/// Limit for ticket, connection and hello together; with the time an old socket may linger it stays under 15 s.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Envelopes that may come before the hello.
const EARLY_MAX: usize = 100;

/// A socket whose registration is complete.
pub(super) struct Opened {
    pub(super) socket: WebSocket,
    pub(super) hello: Hello,
    pub(super) early: Vec<Envelope>,
}

/// Opens a socket and waits for its hello.
pub(super) async fn connect(inner: &Inner) -> Result<Opened, Fault> {
    let deadline = Instant::now() + CONNECT_LIMIT;
    match tokio::time::timeout_at(deadline, open(inner)).await {
        Ok(opened) => opened,
        Err(_) => Err(retryable("connect_timeout", "the socket was not ready in time")),
    }
}

async fn open(inner: &Inner) -> Result<Opened, Fault> {
    let answer = inner.api.read_call("apps.connections.open", json!({})).await?;
    let url =
        text(&answer.body, "url").ok_or_else(|| retryable("missing_url", "slack gave no socket address"))?;
    let socket = inner.api.http().socket(url).await;
    let mut socket =
        socket.map_err(|fault| transport_fault(fault.code, fault.message, fault.written, Effect::None))?;
    let mut early = Vec::new();
    loop {
        let frame = match socket.next().await {
            Some(Ok(Message::Text(frame))) => Frame::parse(frame.as_str()),
            Some(Ok(Message::Close(_)) | Err(_)) | None => {
                return Err(retryable("socket_closed", "the socket closed before the hello"));
            }
            Some(Ok(_)) => Frame::Other,
        };
        match frame {
            Frame::Hello(hello) => return Ok(Opened { socket, hello, early }),
            Frame::Disconnect { reason } => return Err(disconnected(&reason)),
            Frame::Envelope(envelope) if early.len() < EARLY_MAX => early.push(envelope),
            Frame::Envelope(_) | Frame::Other => {}
        }
    }
}

/// What a disconnect frame means when there is no other socket.
pub(super) fn disconnected(reason: &str) -> Fault {
    match reason {
        "link_disabled" => {
            Fault::new(FaultClass::Config, "link_disabled", "socket mode is switched off for the app")
        }
        "too_many_websockets" => retryable("too_many_websockets", "the app has too many sockets"),
        _ => retryable("disconnect", "slack asked to reconnect"),
    }
}

pub(super) fn retryable(code: &str, message: &str) -> Fault {
    Fault::new(FaultClass::Retryable, code, message)
}
