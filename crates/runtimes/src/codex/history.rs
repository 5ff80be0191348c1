//! Reads a thread's record: final answers, and what became of a Turn. Pure.

use serde_json::Value;

use crate::{
    Answer, AnswerSource, ErrClass, NativeTurn, Redact, RuntimeError, TurnFate, TurnOutcome, TurnStatus,
};

use super::classify;

/// A member that is a text, or the empty text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a list, or the empty list.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The final answer of a completed Turn: of a summary its message; else the last message of the final phase;
/// else the last message without a phase. `seen` are the completed items seen while the Turn ran.
pub(super) fn answer(turn: &Value, seen: &[Value]) -> Option<Answer> {
    let items = list(turn, "items");
    if text(turn, "itemsView") == "summary"
        && let Some(message) = messages(items).rfind(|item| text(item, "phase") != "commentary")
    {
        return Some(made(message, AnswerSource::Declared));
    }
    let items = if messages(items).next().is_some() { items } else { seen };
    if let Some(message) = messages(items).rfind(|item| text(item, "phase") == "final_answer") {
        return Some(made(message, AnswerSource::FinalPhase));
    }
    let message = messages(items).rfind(|item| text(item, "phase").is_empty())?;
    Some(made(message, AnswerSource::LastMessage))
}

fn messages(items: &[Value]) -> impl DoubleEndedIterator<Item = &Value> {
    items.iter().filter(|item| text(item, "type") == "agentMessage")
}

fn made(message: &Value, source: AnswerSource) -> Answer {
    Answer { text: text(message, "text").to_owned(), source, files: Vec::new() }
}

/// The outcome of a Turn that is over.
pub(super) fn outcome(turn: &Value, seen: &[Value], redact: &Redact) -> TurnOutcome {
    match text(turn, "status") {
        "completed" => TurnOutcome { answer: answer(turn, seen), ..TurnOutcome::of(TurnStatus::Completed) },
        "interrupted" => TurnOutcome::of(TurnStatus::Interrupted),
        "failed" => {
            let error = classify::model(turn.get("error").unwrap_or(&Value::Null), redact);
            TurnOutcome::failed(TurnStatus::Failed, error)
        }
        _ => {
            let error =
                RuntimeError::new(ErrClass::Protocol, "codex ended a Turn in a state that is not known");
            TurnOutcome::failed(TurnStatus::Lost, error)
        }
    }
}

/// What became of the Turn whose message carries this key. `accepted` says that codex took it once.
pub(super) fn fate(turns: &[Value], key: &str, accepted: bool, redact: &Redact) -> TurnFate {
    let Some(turn) = turns.iter().rfind(|turn| carries(turn, key)) else {
        return absent(turns, accepted);
    };
    match text(turn, "status") {
        "inProgress" => TurnFate::Running(NativeTurn(text(turn, "id").to_owned())),
        "interrupted" => TurnFate::Interrupted { partial: acted(turn) },
        "completed" | "failed" => TurnFate::Done(outcome(turn, &[], redact)),
        _ => TurnFate::Unknown,
    }
}

/// A Turn without a trace. One that codex took, or that may be an empty interrupted one, is not "never".
fn absent(turns: &[Value], accepted: bool) -> TurnFate {
    let empty_end = turns
        .last()
        .is_some_and(|turn| text(turn, "status") == "interrupted" && list(turn, "items").is_empty());
    if accepted || empty_end { TurnFate::Interrupted { partial: false } } else { TurnFate::NeverAccepted }
}

/// Whether the Turn's message carries the key.
pub(super) fn carries(turn: &Value, key: &str) -> bool {
    list(turn, "items")
        .iter()
        .any(|item| text(item, "type") == "userMessage" && text(item, "clientId") == key)
}

fn acted(turn: &Value) -> bool {
    list(turn, "items").iter().any(|item| text(item, "type") != "userMessage")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn said(text: &str, phase: Option<&str>) -> Value {
        json!({"type": "agentMessage", "text": text, "phase": phase})
    }

    fn of(view: &str, items: &[Value], seen: &[Value]) -> Option<(String, AnswerSource)> {
        let turn = json!({"itemsView": view, "items": items});
        answer(&turn, seen).map(|answer| (answer.text, answer.source))
    }

    #[test]
    fn rt_11_only_the_final_message_is_the_answer() {
        let comment = said("thinking", Some("commentary"));
        let last = said("done", Some("final_answer"));
        let plain = said("plain", None);
        assert_eq!(
            of("summary", std::slice::from_ref(&plain), &[]),
            Some(("plain".into(), AnswerSource::Declared))
        );
        let seen = [comment.clone(), last.clone(), plain.clone()];
        assert_eq!(of("notLoaded", &[], &seen), Some(("done".into(), AnswerSource::FinalPhase)));
        assert_eq!(
            of("notLoaded", &[], &[comment.clone(), plain]),
            Some(("plain".into(), AnswerSource::LastMessage))
        );
        assert_eq!(of("notLoaded", &[], std::slice::from_ref(&comment)), None);
        assert_eq!(of("summary", &[comment], &[]), None);
        assert_eq!(of("full", &[last], &[]), Some(("done".into(), AnswerSource::FinalPhase)));
    }

    #[test]
    fn rt_5_a_turn_is_never_accepted_only_without_any_trace() {
        let redact: Redact = Arc::new(str::to_owned);
        let user = json!({"type": "userMessage", "clientId": "k"});
        let turn = |status: &str, items: Value| json!({"id": "t", "status": status, "items": items});
        let fate = |turns: &[Value], accepted| fate(turns, "k", accepted, &redact);
        assert_eq!(fate(&[], false), TurnFate::NeverAccepted);
        assert_eq!(fate(&[], true), TurnFate::Interrupted { partial: false });
        assert_eq!(fate(&[turn("interrupted", json!([]))], false), TurnFate::Interrupted { partial: false });
        let cut = turn("interrupted", json!([user]));
        assert_eq!(fate(&[cut], false), TurnFate::Interrupted { partial: false });
        let acted = turn("interrupted", json!([user, {"type": "commandExecution"}]));
        assert_eq!(fate(&[acted], true), TurnFate::Interrupted { partial: true });
        let running = turn("inProgress", json!([user]));
        assert_eq!(fate(&[running], true), TurnFate::Running(NativeTurn("t".into())));
        let done = turn("completed", json!([user, said("yes", None)]));
        assert!(
            matches!(fate(&[done], true), TurnFate::Done(outcome) if outcome.answer.as_ref().is_some_and(|a| a.text == "yes"))
        );
    }
}
