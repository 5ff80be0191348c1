//! What a mock answers: a scripted answer or a fault.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{RawResponse, one_chunk, stall};
use crate::fault::{NetworkFault, Phase};

/// A scripted answer or fault.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
    fault: Fault,
    stall: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Dns,
    Refused,
    Tls,
    ResetAfter(u64),
    Truncated,
}

impl Answer {
    /// An empty answer.
    pub fn status(status: u16) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Answer { status, headers, body, fault: Fault::None, stall: Duration::ZERO }
    }

    /// A 200 with a JSON body.
    pub fn json(value: &serde_json::Value) -> Self {
        Answer::status(200).body("application/json", value.to_string())
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Answer::status(status).header("location", location)
    }

    /// A JSON answer that is not UTF-8.
    pub fn bad_utf8() -> Self {
        Answer::status(200).body("application/json", &b"\"\xff\xfe\""[..])
    }

    /// An answer of that many bytes.
    pub fn too_large(bytes: usize) -> Self {
        Answer::status(200).body("application/octet-stream", vec![0; bytes])
    }

    /// The name does not resolve.
    pub fn dns() -> Self {
        Self::fault(Fault::Dns)
    }

    /// The connection is refused.
    pub fn refused() -> Self {
        Self::fault(Fault::Refused)
    }

    /// The TLS handshake fails.
    pub fn tls() -> Self {
        Self::fault(Fault::Tls)
    }

    /// The connection is reset after that many bytes of the request; none means before it.
    pub fn reset_after(bytes: u64) -> Self {
        Self::fault(Fault::ResetAfter(bytes))
    }

    /// The body breaks off.
    pub fn truncated(self) -> Self {
        Answer { fault: Fault::Truncated, ..self }
    }

    /// Silence before the answer.
    pub fn stall_ms(self, ms: u64) -> Self {
        Answer { stall: Duration::from_millis(ms), ..self }
    }

    /// Sets the status.
    pub fn with_status(self, status: u16) -> Self {
        Answer { status, ..self }
    }

    /// Adds a header; an unusable one is left out.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            self.headers.append(name, value);
        }
        self
    }

    /// Sets the body.
    pub fn body(self, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let body = Bytes::copy_from_slice(body.as_ref());
        Answer { body, ..self.header("content-type", content_type) }
    }

    fn fault(fault: Fault) -> Self {
        Answer { fault, ..Answer::status(200) }
    }

    pub(super) async fn play(self, read_timeout: Duration) -> Result<RawResponse, NetworkFault> {
        match self.fault {
            Fault::Dns => return Err(NetworkFault::network(Phase::Dns, "the name does not resolve")),
            Fault::Refused | Fault::ResetAfter(0) => {
                return Err(NetworkFault::network(Phase::Connect, "the connection was refused"));
            }
            Fault::Tls => return Err(NetworkFault::network(Phase::Tls, "the TLS handshake failed")),
            Fault::ResetAfter(_) => {
                return Err(NetworkFault::network(
                    Phase::Receive,
                    "the connection broke before an answer came",
                ));
            }
            Fault::None | Fault::Truncated => {}
        }
        stall(self.stall, read_timeout).await?;
        let body = if self.fault == Fault::Truncated {
            let half = self.body.slice(..self.body.len() / 2);
            let broken = Err(NetworkFault::network(Phase::Receive, "the answer broke off"));
            Box::pin(stream::iter([Ok(half), broken]))
        } else {
            one_chunk(self.body)
        };
        Ok(RawResponse { status: self.status, headers: self.headers, body, address: None })
    }
}
