//! Prints plans of connector calls: everything that the owner approves, and what became of it.

use serde_json::Value;

use super::{Printer, pick};
use crate::failure::Outcome;

impl Printer<'_> {
    /// Prints a plan with its gates and runs.
    pub(crate) fn connector_plan(&mut self, plan: &Value) -> Outcome {
        if !self.is_human() {
            return self.json(plan);
        }
        let id = pick::text(plan, "id");
        self.heading(&format!("plan {id}"))?;
        self.fields(&[
            ("objective", pick::text(plan, "objective")),
            ("made by", pick::text(plan, "agent_id")),
            ("waits for", pick::text(plan, "projection.waiting_on")),
        ])?;
        for call in pick::list(plan, "calls") {
            self.planned_call(plan, call)?;
        }
        for run in pick::list(plan, "runs") {
            self.call_run(run)?;
        }
        if pick::is(plan, "running") {
            self.note(&format!("still running; see loom value-connectors show {id}"))?;
        }
        Ok(())
    }

    fn planned_call(&mut self, plan: &Value, call: &Value) -> Outcome {
        let name = pick::text(call, "call_id");
        self.heading(&format!(
            "{name}: {} {}",
            pick::text(call, "connector_id"),
            pick::text(call, "operation")
        ))?;
        let gate = gate_of(plan, &name);
        let of_gate = |path: &str| gate.map(|gate| pick::text(gate, path)).unwrap_or_default();
        self.fields(&[
            ("effect", pick::text(call, "effect")),
            ("target", pick::text(call, "target_ref")),
            ("as", pick::text(call, "sender_identity")),
            ("readiness", pick::text(call, "readiness")),
            ("digest", pick::text(call, "call_digest")),
            ("gate", of_gate("id")),
            ("state", of_gate("state")),
            (
                "until",
                gate.filter(|gate| waits(gate))
                    .map(|gate| pick::text(gate, "expires_at"))
                    .unwrap_or_default(),
            ),
            ("reason", of_gate("reason")),
            ("outcome", of_gate("outcome")),
        ])?;
        for risk in pick::list(call, "risks") {
            self.line(&format!("risk  {}", risk.as_str().unwrap_or_default()))?;
        }
        let content = pick::text(call, "content");
        if !content.is_empty() {
            self.line("content")?;
            self.block(&content)?;
        }
        match gate {
            Some(gate) if pick::text(gate, "state") == "open" => self.note(&approve(plan, gate, "")),
            Some(gate) if pick::text(gate, "outcome") == "outcome_unknown" => {
                self.note(&approve(plan, gate, " --settle sent|not-sent"))
            }
            _ => Ok(()),
        }
    }

    fn call_run(&mut self, run: &Value) -> Outcome {
        let name = pick::text(run, "call_id");
        let outcome = match pick::text(run, "outcome") {
            outcome if !outcome.is_empty() => outcome,
            _ if pick::is(run, "ok") => "done".to_owned(),
            _ => "not run".to_owned(),
        };
        self.heading(&format!("{name} {outcome}"))?;
        let error = pick::text(run, "error.message");
        if !error.is_empty() {
            self.line(&format!("{}: {error}", pick::text(run, "error.code")))?;
            let hint = pick::text(run, "error.hint");
            return if hint.is_empty() { Ok(()) } else { self.note(&format!("hint: {hint}")) };
        }
        match run.get("payload") {
            Some(payload) if payload.is_object() => self.stored_payload(payload),
            _ => self.line(&format!("payload {}", pick::text(run, "payload_id"))),
        }
    }
}

fn waits(gate: &Value) -> bool {
    matches!(pick::text(gate, "state").as_str(), "open" | "approved")
}

fn gate_of<'a>(plan: &'a Value, call: &str) -> Option<&'a Value> {
    pick::list(plan, "gates").iter().find(|gate| pick::text(gate, "call_id") == call)
}

fn approve(plan: &Value, gate: &Value, more: &str) -> String {
    format!(
        "loom value-connectors approve {} --gate {} --call-digest {}{more}",
        pick::text(plan, "id"),
        pick::text(gate, "id"),
        pick::text(gate, "call_digest")
    )
}
