//! Prints Turns.

use loom_capabilities::{JournalRow, Ran, TurnState, TurnView};
use loom_domain::{Code, Error, Result};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Format, pick};

/// A Turn with its payloads.
pub(super) fn document(turn: &TurnView, payloads: &[Value]) -> Result<Value> {
    let mut document = serde_json::to_value(turn).map_err(Error::internal)?;
    pick::put(&mut document, "payloads", &json!(payloads));
    Ok(document)
}

/// Prints a row where rows are streamed.
pub(super) fn row(row: &JournalRow, cx: &mut Context<'_, '_>) -> Outcome {
    match cx.globals.format() {
        Format::Ndjson => {
            let line = json!({"type": "row", "seq": row.seq, "row": row});
            cx.out.typed(&line)?;
            cx.out.flush()
        }
        Format::Human | Format::Json => Ok(()),
    }
}

/// Prints how a run ended, and ends as it did.
pub(super) fn ran(ran: &Ran, cx: &mut Context<'_, '_>) -> Outcome {
    let document = document(&ran.turn, &ran.payloads)?;
    if cx.globals.format() == Format::Ndjson {
        let mut line = json!({"type": "end"});
        pick::put(&mut line, "turn", &document);
        cx.out.typed(&line)?;
    } else {
        shown(&document, cx)?;
    }
    ended(&ran.turn)
}

/// The exit of a Turn.
pub(super) fn ended(turn: &TurnView) -> Outcome {
    match turn.state {
        TurnState::Failed => {
            let code = turn.error.as_ref().map_or(Code::Internal, |error| error.code);
            Err(Failure::of(code))
        }
        TurnState::Interrupted => Err(Failure::of(Code::Cancelled)),
        TurnState::Lost => Err(Failure::of(Code::OutcomeUnknown)),
        _ => Ok(()),
    }
}

/// Prints a Turn alone.
pub(super) fn view(turn: &TurnView, cx: &mut Context<'_, '_>) -> Outcome {
    shown(&serde_json::to_value(turn).map_err(Error::internal)?, cx)
}

/// Prints the document of a Turn.
pub(super) fn shown(turn: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(turn);
    }
    let (id, state) = (pick::text(turn, "turn_id"), pick::text(turn, "state"));
    cx.out.heading(&format!("{id}  {state}"))?;
    for one in pick::list(turn, "connectors") {
        let (connector, state) = (pick::text(one, "connector_id"), pick::text(one, "state"));
        cx.out.line(&format!("  {connector:<28} {state:<8} {}", pick::dash(one, "payload_id")))?;
        if let Some(error) = pick::value(one, "error").filter(|error| !error.is_null()) {
            let (code, message) = (pick::text(error, "code"), pick::text(error, "message"));
            cx.out.line(&format!("    {code}: {message}"))?;
            pick::value(error, "hint")
                .and_then(Value::as_str)
                .iter()
                .try_for_each(|hint| cx.out.note(&format!("hint: {hint}")))?;
        }
    }
    if let Some(agent) = pick::value(turn, "agent").filter(|agent| !agent.is_null()) {
        cx.out.line(&format!("  agent {:<22} {}", pick::text(agent, "id"), pick::dash(agent, "state")))?;
        pick::text(agent, "answer").lines().try_for_each(|line| cx.out.line(line))?;
    }
    for payload in pick::list(turn, "payloads") {
        cx.out.stored_payload(payload)?;
    }
    for row in pick::list(turn, "journal") {
        let (seq, at, kind) = (pick::text(row, "seq"), pick::text(row, "at"), pick::text(row, "kind"));
        cx.out.line(&format!("{seq:>3}  {at}  {kind}"))?;
    }
    if state == "interrupted" || state == "planned" {
        cx.out.note(&format!("go on with `loom turn resume {id}`"))?;
    }
    Ok(())
}
