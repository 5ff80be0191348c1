//! Steps 1 to 3: what can be said without an Address.

use super::{DecisionInput, ID_BYTES_MAX, StepTrace, Verdict};
use crate::InboundEvent;
use crate::message::{Decision, EventKind};
use crate::reason::EventReason as R;

type Test = fn(&DecisionInput<'_>) -> (Verdict, String);

/// A step: its number, its condition, its test.
struct Step(&'static str, &'static str, Test);

const STEPS: &[Step] = &[
    Step("1", "an id is missing or too long", malformed),
    Step("2", "Connection archived or not enabled", connection),
    Step("3", "no Address on the Connection", no_address),
];

/// Runs the steps; gives the end, if one ends it.
pub(super) fn run(
    input: &DecisionInput<'_>,
    trace: &mut Vec<StepTrace>,
) -> Option<(&'static str, Decision, R)> {
    STEPS.iter().find_map(|Step(step, condition, test)| {
        let (verdict, value) = test(input);
        trace.push(StepTrace { step, condition, value, result: verdict.word() });
        match verdict {
            Verdict::End(decision, reason) => Some((*step, decision, reason)),
            _ => None,
        }
    })
}

fn malformed(input: &DecisionInput<'_>) -> (Verdict, String) {
    let fault = fault(input.event);
    (Verdict::refuse_if(fault.is_some(), R::Malformed), fault.unwrap_or("ids present").to_owned())
}

/// The first fault of the event's ids. A lifecycle fact has no conversation, and only messages and facts
/// about messages have a message.
fn fault(event: &InboundEvent) -> Option<&'static str> {
    let conversation = &event.conversation;
    let needs_conversation = event.kind != EventKind::Lifecycle;
    let needs_message = needs_conversation && event.kind != EventKind::Member;
    let message = event.target_message_id.as_ref().or(conversation.message_id.as_ref());
    let is_missing = |id: Option<&String>| id.is_none_or(|id| id.trim().is_empty());
    if event.event_id.trim().is_empty() {
        return Some("event id missing");
    }
    if needs_conversation && conversation.conversation_id.trim().is_empty() {
        return Some("conversation id missing");
    }
    if needs_message && is_missing(message) {
        return Some("message id missing");
    }
    let ids = [
        Some(event.event_id.as_str()),
        Some(conversation.conversation_id.as_str()),
        conversation.thread_id.as_deref(),
        conversation.message_id.as_deref(),
        event.target_message_id.as_deref(),
        event.sender.as_ref().map(|sender| sender.external_id.as_str()),
    ];
    ids.iter().flatten().any(|id| id.len() > ID_BYTES_MAX).then_some("id too long")
}

fn connection(input: &DecisionInput<'_>) -> (Verdict, String) {
    let connection = input.connection;
    let verdict = if connection.archived_at.is_some() {
        Verdict::End(Decision::Refused, R::ConnectionArchived)
    } else {
        Verdict::refuse_if(!connection.enabled, R::ConnectionDisabled)
    };
    let value = format!("archived={} enabled={}", connection.archived_at.is_some(), connection.enabled);
    (verdict, value)
}

fn no_address(input: &DecisionInput<'_>) -> (Verdict, String) {
    let value = input.address.map_or_else(|| "none".to_owned(), |address| address.id.to_string());
    (Verdict::refuse_if(input.address.is_none(), R::NoAddress), value)
}
