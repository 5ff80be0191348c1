//! The log of what the client asked.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// One HTTP request as the twin understood it.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// Position in the log, from 1.
    pub number: u64,
    /// Web API method, `upload`, `download` or `link`.
    pub method: String,
    /// `GET` or `POST`.
    pub http_method: String,
    /// Lower-case headers; tokens are replaced by `bot`, `app` or `unknown`, agent strings are left out.
    pub headers: BTreeMap<String, String>,
    /// Arguments, whatever encoding they came in; without the token.
    pub arguments: BTreeMap<String, Value>,
    /// Body size in bytes.
    pub body_bytes: usize,
    /// HTTP status answered; 0 when the connection was cut instead.
    pub status: u16,
    /// `ok`, the Slack error code, or the planned failure.
    pub outcome: String,
    /// Unix time in milliseconds.
    pub at_ms: u64,
}

/// Numbers over the whole run.
#[derive(Debug, Clone, Serialize)]
pub struct Counters {
    /// Calls per method.
    pub calls: BTreeMap<String, u64>,
    /// Sockets open now.
    pub sockets_open: usize,
    /// Most sockets open at once.
    pub sockets_max: usize,
    /// Sockets ever opened.
    pub sockets_total: u64,
    /// Envelopes handed to a socket, retries included.
    pub envelopes_sent: u64,
    /// Events held back because the twin is silent.
    pub events_suppressed: u64,
    /// Acknowledgements ever received.
    pub acks_total: u64,
    /// The latest acknowledgements, in order.
    pub acks: Vec<super::Ack>,
    /// Envelopes waiting for one.
    pub unacked: Vec<super::Unacked>,
    /// Envelopes whose last retry ran out.
    pub given_up: Vec<super::Unacked>,
}
