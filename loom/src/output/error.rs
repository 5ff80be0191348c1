//! Prints a failure: an object on stdout for programs, sentences on stderr for people.

use loom_domain::Error;
use serde_json::{Value, json};

use super::escape::escape;
use super::{Printer, pick};
use crate::failure::Outcome;

impl Printer<'_> {
    /// Prints the one failure of a command.
    pub(crate) fn failure(&mut self, error: &Error) -> Outcome {
        if !self.is_human() {
            self.json(&json!({"ok": false, "error": error}))?;
            writeln!(self.err, "error: {}", escape(&error.message))?;
            return Ok(());
        }
        writeln!(self.err, "error: {}", escape(&error.message))?;
        for line in causes(&error.detail) {
            writeln!(self.err, "  {}", escape(&line))?;
        }
        if let Some(hint) = &error.hint {
            writeln!(self.err, "hint: {}", escape(hint))?;
        }
        Ok(())
    }
}

/// What the detail of an error tells a person.
fn causes(detail: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(place) = pick::value(detail, "pointer").and_then(Value::as_str).filter(|at| !at.is_empty()) {
        lines.push(format!("at {place}"));
    }
    if let Some(cause) = pick::value(detail, "cause").and_then(Value::as_str) {
        lines.push(cause.to_owned());
    }
    if pick::value(detail, "current_version").is_some() {
        lines.push(format!("current version {}", pick::number(detail, "current_version")));
    }
    for entry in pick::list(detail, "diff") {
        let [field, yours, current] = ["field", "yours", "current"].map(|key| pick::dash(entry, key));
        lines.push(format!("{field}: yours {yours}, current {current}"));
    }
    for entry in pick::list(detail, "blockers") {
        match entry.as_str() {
            Some(text) => lines.push(text.to_owned()),
            None => {
                lines.push(["kind", "id", "state", "command"].map(|key| pick::text(entry, key)).join(" "));
            }
        }
    }
    for entry in pick::list(detail, "connections") {
        let [id, at] = ["id", "last_event_at"].map(|key| pick::dash(entry, key));
        let state = match pick::state(entry, "state", "reason") {
            state if state.is_empty() && pick::is(entry, "enabled") => "enabled".to_owned(),
            state if state.is_empty() => "disabled".to_owned(),
            state => state,
        };
        lines.push(format!("{id} {state}, last event {at}"));
    }
    lines
}
