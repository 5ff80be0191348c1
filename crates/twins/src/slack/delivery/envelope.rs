//! One envelope on its way, and what is told about it afterwards.

use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) event_id: Option<String>,
    pub(super) kind: String,
    pub(super) payload: Value,
    pub(super) attempt: usize,
    pub(super) next_at: Instant,
    /// Whether the running attempt was handed to a socket.
    pub(super) running: bool,
    pub(super) last_sent: Option<Instant>,
    pub(super) message: Option<String>,
}

/// One acknowledgement.
#[derive(Debug, Clone, Serialize)]
pub struct Ack {
    /// Envelope.
    pub envelope_id: String,
    /// Event inside, if it was an Events API envelope.
    pub event_id: Option<String>,
    /// `CHANNEL/TS` of a message event.
    pub message: Option<String>,
    /// Attempt it answered (0 is the first).
    pub attempt: usize,
    /// Milliseconds since the attempt was sent.
    pub latency_ms: u64,
}

/// An envelope whose acknowledgement is due or that was given up.
#[derive(Debug, Clone, Serialize)]
pub struct Unacked {
    /// Envelope.
    pub envelope_id: String,
    /// Event inside.
    pub event_id: Option<String>,
    /// `CHANNEL/TS` of a message event.
    pub message: Option<String>,
    /// Retry that runs or ran last.
    pub attempt: usize,
}

impl Envelope {
    pub(super) fn new(id: String, event_id: Option<String>, kind: &str, payload: Value) -> Self {
        Self {
            message: message_key(&payload),
            id,
            event_id,
            kind: kind.to_owned(),
            payload,
            attempt: 0,
            next_at: Instant::now(),
            running: false,
            last_sent: None,
        }
    }

    pub(super) fn as_unacked(&self) -> Unacked {
        let (envelope_id, event_id) = (self.id.clone(), self.event_id.clone());
        Unacked { envelope_id, event_id, message: self.message.clone(), attempt: self.attempt }
    }

    pub(super) fn into_ack(self) -> Ack {
        let latency = self.last_sent.map(|at| at.elapsed()).unwrap_or_default();
        Ack {
            envelope_id: self.id,
            event_id: self.event_id,
            message: self.message,
            attempt: self.attempt,
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The text frame of the running attempt.
    pub(super) fn frame(&self) -> String {
        let reason = if self.attempt == 0 { "" } else { "timeout" };
        let mut frame = json!({"envelope_id": self.id, "type": self.kind, "payload": self.payload,
            "accepts_response_payload": self.kind != "events_api"});
        if let (true, Some(frame)) = (self.kind == "events_api", frame.as_object_mut()) {
            frame.insert("retry_attempt".into(), json!(self.attempt));
            frame.insert("retry_reason".into(), json!(reason));
        }
        frame.to_string()
    }
}

fn message_key(payload: &Value) -> Option<String> {
    let event = payload.get("event")?;
    let field = |name| event.get(name).and_then(Value::as_str);
    Some(format!("{}/{}", field("channel")?, field("ts")?))
}
