//! What went wrong on the wire, and whether a byte of the request may have left.

use loom_domain::{Code, Error};

/// The step in which an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Resolving the name.
    Dns,
    /// Opening the TCP connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Reaching the proxy, or its refusal.
    Proxy,
    /// Writing the request.
    Send,
    /// Reading the answer.
    Receive,
    /// Silence for longer than the read limit.
    Read,
    /// The limit of the whole attempt.
    Total,
    /// Looking an answer up in a cassette.
    Replay,
}

impl Phase {
    /// The word in `detail.phase` and in the request log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Dns => "dns",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Proxy => "proxy",
            Phase::Send => "send",
            Phase::Receive => "receive",
            Phase::Read => "read",
            Phase::Total => "total",
            Phase::Replay => "replay",
        }
    }
}

/// Whether a byte of the request may have reached the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Written {
    /// None has: the request can be sent again without a second effect.
    No,
    /// Some may have.
    Maybe,
}

impl Written {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Written::No => "no",
            Written::Maybe => "maybe",
        }
    }
}

/// The kind of a fault, which picks its error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// No usable answer: `provider_network_error`.
    Network,
    /// A time limit passed: `provider_timeout`.
    Timeout,
    /// The answer is over a cap: `provider_response_too_large`.
    TooLarge,
    /// The answer cannot be read: `provider_protocol_error`.
    Protocol,
    /// A part of the request body could not be read here: `invalid_input`.
    Body,
}

/// One failed attempt, as a backend reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Step in which it happened.
    pub phase: Phase,
    /// Whether request bytes may have left.
    pub written: Written,
    /// Loom's own words; never provider text.
    pub message: String,
}

impl NetworkFault {
    /// Makes a network fault; phases before the request count as unwritten.
    pub fn network(phase: Phase, message: impl Into<String>) -> Self {
        NetworkFault { kind: FaultKind::Network, phase, written: written_in(phase), message: message.into() }
    }

    /// Makes a time-out; only the connect phase counts as unwritten.
    pub fn timeout(phase: Phase) -> Self {
        let message = format!("the {} time limit passed", phase.as_str());
        NetworkFault { kind: FaultKind::Timeout, phase, written: written_in(phase), message }
    }

    pub(crate) fn receive(kind: FaultKind, message: impl Into<String>) -> Self {
        NetworkFault { kind, phase: Phase::Receive, written: Written::Maybe, message: message.into() }
    }

    pub(crate) fn with_written(mut self, written: Written) -> Self {
        self.written = written;
        self
    }

    pub(crate) const fn code(&self) -> Code {
        match self.kind {
            FaultKind::Network => Code::ProviderNetworkError,
            FaultKind::Timeout => Code::ProviderTimeout,
            FaultKind::TooLarge => Code::ProviderResponseTooLarge,
            FaultKind::Protocol => Code::ProviderProtocolError,
            FaultKind::Body => Code::InvalidInput,
        }
    }

    pub(crate) fn into_error(self) -> Error {
        Error::new(self.code(), self.message).with_detail("phase", self.phase.as_str())
    }
}

const fn written_in(phase: Phase) -> Written {
    match phase {
        Phase::Dns | Phase::Connect | Phase::Tls | Phase::Proxy | Phase::Replay => Written::No,
        Phase::Send | Phase::Receive | Phase::Read | Phase::Total => Written::Maybe,
    }
}

/// Stamps an error of this crate with what is known about written bytes.
pub(crate) fn stamp(error: Error, written: Written) -> Error {
    error.with_detail("written", written.as_str())
}

/// Tells whether any byte of the failed request may have reached the peer. Without proof of the
/// contrary the answer is [`Written::Maybe`].
pub fn bytes_written(error: &Error) -> Written {
    if error.detail.get("written").and_then(|w| w.as_str()) == Some("no") {
        Written::No
    } else {
        Written::Maybe
    }
}
