//! Frames of the Socket Mode connection and lenient access to Slack's JSON.

use serde_json::{Value, json};

/// What one text frame means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// The registration is complete.
    Hello(Hello),
    /// The server is about to close.
    Disconnect {
        /// `warning`, `refresh_requested`, `link_disabled` or `too_many_websockets`.
        reason: String,
    },
    /// Something to store and acknowledge.
    Envelope(Envelope),
    /// A frame without meaning for us.
    Other,
}

/// The registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    /// Sockets open for the app.
    pub(super) connections: u32,
    /// Seconds until the planned recycle.
    pub(super) lifetime_s: Option<u64>,
}

/// An event with the id to acknowledge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Envelope {
    /// Id to acknowledge.
    pub(super) id: String,
    /// `events_api`, `slash_commands`, `interactive` or another word.
    pub(super) kind: String,
    /// Payload.
    pub(super) payload: Value,
}

impl Frame {
    /// Reads a frame; what cannot be read has no meaning.
    pub(super) fn parse(frame: &str) -> Frame {
        let Ok(mut value) = serde_json::from_str::<Value>(frame) else { return Frame::Other };
        match text(&value, "type") {
            Some("hello") => Frame::Hello(hello(&value)),
            Some("disconnect") => {
                Frame::Disconnect { reason: text(&value, "reason").unwrap_or("unknown").to_owned() }
            }
            kind => {
                let kind = kind.unwrap_or("").to_owned();
                let Some(id) = text(&value, "envelope_id").map(str::to_owned) else { return Frame::Other };
                let payload = value.get_mut("payload").map(Value::take).unwrap_or_default();
                Frame::Envelope(Envelope { id, kind, payload })
            }
        }
    }
}

fn hello(value: &Value) -> Hello {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let lifetime = number(value.get("debug_info").and_then(|info| info.get("approximate_connection_time")));
    let connections = number(value.get("num_connections")).and_then(|n| u32::try_from(n).ok());
    Hello { connections: connections.unwrap_or(1), lifetime_s: lifetime }
}

/// The frame that acknowledges an envelope.
pub(super) fn ack(envelope_id: &str) -> String {
    json!({ "envelope_id": envelope_id }).to_string()
}

/// A member that is a non-empty text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A member that is `true`.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A member that is a list; anything else counts as an empty one.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether a text has the form of a message timestamp.
pub(super) fn is_ts(text: &str) -> bool {
    text.len() <= 32
        && text.split_once('.').is_some_and(|(s, us)| {
            !s.is_empty() && !us.is_empty() && (s.bytes().chain(us.bytes())).all(|b| b.is_ascii_digit())
        })
}

/// The time in a timestamp id, in Unix milliseconds.
pub(super) fn ts_ms(ts: &str) -> Option<i64> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds: i64 = seconds.parse().ok()?;
    let millis: i64 = micros.get(..3).unwrap_or("0").parse().ok()?;
    seconds.checked_mul(1_000)?.checked_add(millis)
}

/// A time as the `oldest` of a history call.
pub(super) fn ms_to_ts(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}000", ms / 1_000, ms % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_apart() {
        let hello =
            r#"{"type":"hello","num_connections":2,"debug_info":{"approximate_connection_time":18060}}"#;
        assert_eq!(Frame::parse(hello), Frame::Hello(Hello { connections: 2, lifetime_s: Some(18_060) }));
        assert!(
            matches!(Frame::parse(r#"{"type":"disconnect","reason":"warning"}"#), Frame::Disconnect { reason } if reason == "warning")
        );
        let Frame::Envelope(envelope) =
            Frame::parse(r#"{"envelope_id":"e1","type":"new_kind","payload":{"a":1}}"#)
        else {
            panic!("an unknown kind with an id is still acknowledged")
        };
        assert_eq!((envelope.id.as_str(), envelope.kind.as_str()), ("e1", "new_kind"));
        for odd in ["", "[]", "null", "{\"type\":1}", "{\"type\":\"events_api\"}"] {
            assert_eq!(Frame::parse(odd), Frame::Other, "{odd}");
        }
    }

    #[test]
    fn timestamps_are_ids_with_a_time() {
        assert!(is_ts("1610241741.000200") && !is_ts("1610241741") && !is_ts("cmd.x") && !is_ts("."));
        assert_eq!(ts_ms("1610241741.123456"), Some(1_610_241_741_123));
        assert_eq!(ms_to_ts(1_610_241_741_123), "1610241741.123000");
        assert_eq!(ts_ms("99999999999999999999.1"), None);
    }
}
