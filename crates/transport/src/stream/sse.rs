//! Server-sent events (HTML Living Standard, 9.2.6): fields gathered until an empty line.

use std::time::Duration;

use loom_domain::{Code, Error, Result};

/// Most bytes of data of one event.
pub(super) const DATA_BYTES_MAX: usize = 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Kind; `message` if the event names none.
    pub event: String,
    /// Data lines, joined by line feeds.
    pub data: String,
    /// Last id that was seen, for `Last-Event-ID`.
    pub id: Option<String>,
    /// Time to wait before connecting again, if the event says so.
    pub retry: Option<Duration>,
}

/// Gathers lines into events.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    event: String,
    data: Option<String>,
    id: Option<String>,
    retry: Option<Duration>,
    started: bool,
}

impl Gatherer {
    /// Takes a line; an empty one ends an event. An event without data is none, but its id stays.
    pub(super) fn push(&mut self, line: &str) -> Result<Option<SseEvent>> {
        let line = if self.started { line } else { line.strip_prefix('\u{feff}').unwrap_or(line) };
        self.started = true;
        if line.is_empty() {
            return Ok(self.close());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => self.add_data(value)?,
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            _ => {}
        }
        Ok(None)
    }

    fn add_data(&mut self, value: &str) -> Result<()> {
        let data = match &mut self.data {
            Some(data) => {
                data.push('\n');
                data
            }
            none => none.insert(String::new()),
        };
        if data.len() + value.len() > DATA_BYTES_MAX {
            let message = format!("an event of the answer is larger than {DATA_BYTES_MAX} bytes");
            return Err(Error::new(Code::ProviderResponseTooLarge, message));
        }
        data.push_str(value);
        Ok(())
    }

    fn close(&mut self) -> Option<SseEvent> {
        let (event, retry) = (std::mem::take(&mut self.event), self.retry.take());
        let data = self.data.take()?;
        let event = if event.is_empty() { "message".to_owned() } else { event };
        Some(SseEvent { event, data, id: self.id.clone(), retry })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(lines: &[&str]) -> Vec<SseEvent> {
        let mut gatherer = Gatherer::default();
        lines.iter().filter_map(|line| gatherer.push(line).unwrap()).collect()
    }

    #[test]
    fn fields_become_events() {
        let found = events(&[
            "\u{feff}: hello",
            "",
            "event: add",
            "id: 7",
            "data: a",
            "data:b",
            "data",
            "retry: 250",
            "unknown: x",
            "",
            "data:  c",
            "",
            "event: only",
            "",
            "data: unfinished",
        ]);
        let add = SseEvent {
            event: "add".into(),
            data: "a\nb\n".into(),
            id: Some("7".into()),
            retry: Some(Duration::from_millis(250)),
        };
        let plain =
            SseEvent { event: "message".into(), data: " c".into(), id: Some("7".into()), retry: None };
        assert_eq!(found, [add, plain]);
    }

    #[test]
    fn an_event_has_a_limit() {
        let (mut gatherer, half) = (Gatherer::default(), format!("data:{}", "x".repeat(DATA_BYTES_MAX / 2)));
        gatherer.push(&half).unwrap();
        assert_eq!(gatherer.push(&half).unwrap_err().code, Code::ProviderResponseTooLarge);
    }
}
