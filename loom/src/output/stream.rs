//! Prints a run while it goes on: one JSON document, or an event a line.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use loom_capabilities::{Flow, Notice, Observer, Payload, Started};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::{Format, Printer};
use crate::failure::Outcome;

/// Lines of progress are at least so far apart.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// What a run tells while it goes on.
#[derive(Debug)]
pub(crate) enum Event {
    Started(Box<Started>),
    Item(Value),
    Progress(u64, Option<u64>),
    Notice(Notice),
    Checkpoint(String),
}

/// Hands what a run tells to whoever prints.
#[derive(Debug)]
pub(crate) struct Progress(UnboundedSender<Event>);

impl Progress {
    pub(crate) fn new(events: UnboundedSender<Event>) -> Self {
        Progress(events)
    }

    fn send(&self, event: Event) -> Flow {
        // Nobody listens after the end only.
        let _ = self.0.send(event);
        Flow::Continue
    }
}

impl Observer for Progress {
    fn started(&mut self, started: &Started) -> Flow {
        self.send(Event::Started(Box::new(started.clone())))
    }
    fn item(&mut self, item: &Value) -> Flow {
        self.send(Event::Item(item.clone()))
    }
    fn progress(&mut self, done: u64, total: Option<u64>) {
        let _ = self.send(Event::Progress(done, total));
    }
    fn notice(&mut self, notice: &Notice) {
        let _ = self.send(Event::Notice(notice.clone()));
    }
    fn checkpoint(&mut self, cursor: &str) {
        let _ = self.send(Event::Checkpoint(cursor.to_owned()));
    }
}

/// Prints a run.
pub(crate) struct Stream<'a, 'p> {
    out: &'a mut Printer<'p>,
    seq: u64,
    /// Members of the document that were written when the run started.
    written: Option<BTreeSet<&'static str>>,
    items: u64,
    last_progress: Option<Instant>,
    shows_bar: bool,
    bar: Option<ProgressBar>,
}

impl<'a, 'p> Stream<'a, 'p> {
    /// Prints to a printer; bars are for people at a terminal.
    pub(crate) fn new(out: &'a mut Printer<'p>, stderr_is_terminal: bool) -> Self {
        let shows_bar = stderr_is_terminal && !out.style.quiet;
        Stream { out, seq: 0, written: None, items: 0, last_progress: None, shows_bar, bar: None }
    }

    /// Prints one event.
    pub(crate) fn take(&mut self, event: &Event) -> Outcome {
        match (event, self.out.style.format) {
            (Event::Started(started), Format::Ndjson) => self.line(
                "start",
                &json!({
                    "schema": started.schema_version, "connector_id": started.connector_id,
                    "connector_version": started.connector_version, "operation": started.operation,
                    "run_id": started.run_id, "started_at": started.started_at,
                }),
            ),
            (Event::Started(started), Format::Json) if started.gives_items => self.open(started),
            (Event::Item(item), Format::Ndjson) => self.line("item", &json!({"item": item})),
            (Event::Item(item), Format::Json) if self.written.is_some() => self.member(item),
            (Event::Progress(done, total), Format::Ndjson) => {
                if self.is_time() {
                    self.line("progress", &json!({"done": done, "total": total}))
                } else {
                    Ok(())
                }
            }
            (Event::Progress(done, total), _) => {
                self.advance(*done, *total);
                Ok(())
            }
            (Event::Notice(notice), Format::Ndjson) => self.line("notice", &json!({"notice": notice})),
            (Event::Notice(notice), _) => self.out.note(&notice.message),
            (Event::Checkpoint(cursor), Format::Ndjson) => {
                self.line("checkpoint", &json!({"cursor": cursor}))
            }
            _ => Ok(()),
        }
    }

    /// Prints the end.
    pub(crate) fn end(&mut self, payload: &Payload) -> Outcome {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        match (self.out.style.format, self.written.take()) {
            (Format::Ndjson, _) => {
                if !payload.fields.is_null() {
                    self.line("item", &json!({"item": payload.fields}))?;
                }
                let count = payload.item_count + u64::from(!payload.fields.is_null());
                self.line("end", &json!({
                    "ok": payload.ok, "complete": payload.complete, "stop_reason": payload.stop_reason, "item_count": count,
                    "cursor": payload.cursor, "effects": payload.effects, "error": payload.error,
                    "payload_id": payload.payload_id,
                }))
            }
            (Format::Json, Some(written)) => self.close(payload, &written),
            _ => self.out.payload(payload),
        }
    }

    fn line(&mut self, kind: &str, more: &Value) -> Outcome {
        let mut text = format!("{{\"type\":\"{kind}\",\"seq\":{}", self.seq);
        for (key, value) in more.as_object().into_iter().flatten() {
            text.push_str(&format!(",{}:{value}", json!(key)));
        }
        writeln!(self.out.out, "{text}}}")?;
        self.seq += 1;
        self.out.flush()
    }

    /// Writes what is known of the document, and opens its list of items.
    fn open(&mut self, started: &Started) -> Outcome {
        let known: [(&'static str, &str); 5] = [
            ("schema_version", started.schema_version),
            ("connector_id", &started.connector_id),
            ("connector_version", &started.connector_version),
            ("operation", &started.operation),
            ("run_id", &started.run_id),
        ];
        write!(self.out.out, "{{")?;
        for (key, value) in known {
            write!(self.out.out, "\"{key}\":{},\n ", json!(value))?;
        }
        write!(self.out.out, "\"items\":[")?;
        self.written = Some(known.iter().map(|(key, _)| *key).chain(["items"]).collect());
        self.out.flush()
    }

    fn member(&mut self, item: &Value) -> Outcome {
        let comma = if self.items > 0 { "," } else { "" };
        write!(self.out.out, "{comma}\n  {item}")?;
        self.items += 1;
        self.out.flush()
    }

    fn close(&mut self, payload: &Payload, written: &BTreeSet<&'static str>) -> Outcome {
        let document: Map<String, Value> = match serde_json::to_value(payload) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        write!(self.out.out, "]")?;
        for (key, value) in document.iter().filter(|(key, _)| !written.contains(key.as_str())) {
            write!(self.out.out, ",\n {}:{value}", json!(key))?;
        }
        writeln!(self.out.out, "}}")?;
        self.out.flush()
    }

    fn is_time(&mut self) -> bool {
        let now = Instant::now();
        let due = self.last_progress.is_none_or(|last| now.duration_since(last) >= PROGRESS_EVERY);
        if due {
            self.last_progress = Some(now);
        }
        due
    }

    fn advance(&mut self, done: u64, total: Option<u64>) {
        if !self.shows_bar {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| match total {
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
        });
        bar.set_position(done);
    }
}
