//! Server-sent events.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use loom_domain::{Code, Error, Result};

use super::connect::Driver;

/// Largest single event, bytes.
const FRAME_BYTES_MAX: usize = 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its id, to resume after it.
    pub id: Option<String>,
    /// Its name; `reset` means that older events are gone.
    pub event: Option<String>,
    /// Its data.
    pub data: String,
}

/// A stream of events; ends the connection when dropped.
pub struct EventStream {
    body: Incoming,
    lines: Lines,
    _driver: Driver,
}

impl EventStream {
    pub(super) fn new(body: Incoming, driver: Driver) -> Self {
        EventStream { body, lines: Lines::default(), _driver: driver }
    }

    /// The next event; `None` when the hub ended the stream.
    pub async fn next(&mut self) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.lines.frame() {
                return Ok(Some(frame));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(chunk)) => self.lines.feed(&chunk.into_data().unwrap_or_else(|_| Bytes::new()))?,
                Some(Err(error)) => {
                    return Err(Error::new(Code::HubUnreachable, "the event stream broke off")
                        .with_detail("cause", error.to_string()));
                }
            }
        }
    }
}

/// Bytes not yet made into events.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
    frame: Frame,
}

impl Lines {
    fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        if self.rest.len() + self.frame.data.len() + bytes.len() > FRAME_BYTES_MAX {
            return Err(Error::new(Code::TooLarge, "an event is over its size limit"));
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes whole lines until an empty one ends an event.
    fn frame(&mut self) -> Option<Frame> {
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() {
                let frame = std::mem::take(&mut self.frame);
                if !frame.data.is_empty() || frame.event.is_some() {
                    return Some(frame);
                }
                continue;
            }
            self.field(text);
        }
        None
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.frame.id = Some(value.to_owned()),
            "event" => self.frame.event = Some(value.to_owned()),
            "data" => {
                if !self.frame.data.is_empty() {
                    self.frame.data.push('\n');
                }
                self.frame.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_any_cut_and_comments() {
        let wire = b": hello\n\nid: 7\nevent: x\ndata: {\"a\":\ndata: 1}\r\n\nevent: reset\n\n";
        for cut in 0..wire.len() {
            let mut lines = Lines::default();
            let mut frames = Vec::new();
            for half in [&wire[..cut], &wire[cut..]] {
                lines.feed(half).unwrap();
                frames.extend(std::iter::from_fn(|| lines.frame()));
            }
            assert_eq!(frames.len(), 2, "cut at {cut}");
            assert_eq!(frames[0].id.as_deref(), Some("7"));
            assert_eq!(frames[0].data, "{\"a\":\n1}");
            assert_eq!(frames[1].event.as_deref(), Some("reset"));
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; FRAME_BYTES_MAX / 2];
        lines.feed(&chunk).unwrap();
        lines.feed(&chunk).unwrap();
        assert_eq!(lines.feed(b"x").unwrap_err().code, Code::TooLarge);
    }
}
