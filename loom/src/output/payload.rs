//! Prints payloads and plans.

use loom_capabilities::{Payload, RunPlan};
use serde::Serialize;
use serde_json::Value;

use super::{Format, Printer, pick};
use crate::failure::Outcome;

impl Printer<'_> {
    /// Prints a document with its members in the order of their declaration.
    pub(crate) fn typed<T: Serialize>(&mut self, document: &T) -> Outcome {
        let text = match self.style.format {
            Format::Json => serde_json::to_string_pretty(document),
            Format::Human | Format::Ndjson => serde_json::to_string(document),
        };
        let text = text.map_err(loom_domain::Error::internal)?;
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Prints a plan.
    pub(crate) fn plan(&mut self, plan: &RunPlan) -> Outcome {
        if !self.is_human() {
            return self.typed(plan);
        }
        self.heading(&format!("{} {}: dry run, nothing was sent", plan.connector_id, plan.operation))?;
        for request in &plan.requests {
            self.line(&format!("  {} {}", request.method, request.url))?;
        }
        for host in &plan.hosts {
            self.line(&format!("  host {} {}", host.host, host.verdict))?;
        }
        self.line(&format!("plan {}", plan.plan_digest))
    }

    /// Prints a payload.
    pub(crate) fn payload(&mut self, payload: &Payload) -> Outcome {
        if !self.is_human() {
            return self.typed(payload);
        }
        self.heading(&format!("{} {}", payload.connector_id, payload.operation))?;
        self.facts(&payload.fields, "")?;
        for item in &payload.items {
            self.line(&item.to_string())?;
        }
        if !payload.complete {
            let reason = serde_json::to_value(payload.stop_reason).unwrap_or_default();
            self.note(&format!("incomplete: {}", plain(&reason)))?;
        }
        if let Some(cursor) = &payload.cursor {
            self.note(&format!("more: --cursor {cursor}"))?;
        }
        payload.warnings.iter().try_for_each(|warning| self.note(&format!("warning: {warning}")))?;
        match &payload.error {
            Some(error) => {
                self.note(&format!("error: {error}"))?;
                error.hint.iter().try_for_each(|hint| self.note(&format!("hint: {hint}")))
            }
            None => Ok(()),
        }
    }

    /// Prints a payload that was kept.
    pub(crate) fn stored_payload(&mut self, payload: &Value) -> Outcome {
        if !self.is_human() {
            return self.json(payload);
        }
        self.heading(&format!(
            "{} {}",
            pick::text(payload, "connector_id"),
            pick::text(payload, "operation")
        ))?;
        self.fields(&[
            ("payload", pick::text(payload, "payload_id")),
            ("at", pick::text(payload, "timings.finished_at")),
            ("ok", if pick::is(payload, "ok") { "yes" } else { "no" }.to_owned()),
        ])?;
        self.facts(pick::value(payload, "fields").unwrap_or(&Value::Null), "")?;
        pick::list(payload, "items").iter().try_for_each(|item| self.line(&item.to_string()))
    }

    /// Names and values, one a line; what lies deeper has its path.
    fn facts(&mut self, value: &Value, path: &str) -> Outcome {
        match value {
            Value::Null => Ok(()),
            Value::Object(members) => members.iter().try_for_each(|(key, member)| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                self.facts(member, &path)
            }),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                items.iter().try_for_each(|item| self.line(&format!("{path}  {item}")))
            }
            Value::Array(items) => {
                let words: Vec<String> = items.iter().map(plain).collect();
                if words.is_empty() {
                    Ok(())
                } else {
                    self.line(&format!("{path:<24}  {}", words.join(", ")))
                }
            }
            scalar => self.line(&format!("{path:<24}  {}", plain(scalar))),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}
