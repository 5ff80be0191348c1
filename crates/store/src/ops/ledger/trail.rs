//! Puts a path in order of time and says how it ended.

use loom_api::view::{TrailStep, Where};
use loom_domain::{
    Agent, HandlingAttempt, OutboxItem, Part, Receipt, Result, Timestamp, Turn,
    inbox::State as ItemState,
    outbox::{PartState, State as SendState},
};

use super::find::Path;
use crate::{
    Tx, docs,
    ops::{inbox, outbox_read, policy},
    records::{StoredEvent, StoredItem},
};

pub(super) fn of(tx: &mut dyn Tx, path: &Path) -> Result<Where> {
    let mut steps = Vec::new();
    for stored in &path.events {
        event_steps(tx, stored, &mut steps)?;
    }
    for stored in &path.items {
        item_steps(tx, stored, &mut steps)?;
    }
    for send in &path.sends {
        send_steps(tx, send, &mut steps)?;
    }
    steps.sort_by_key(|step| (step.at, step.seq));
    let (verdict, reason) = verdict(path);
    Ok(Where { verdict: verdict.to_owned(), reason, steps })
}

fn step(at: Timestamp, seq: u64, layer: &str, id: &str, text: String) -> TrailStep {
    TrailStep { at, seq: Some(seq), layer: layer.to_owned(), id: Some(id.to_owned()), text, code: None }
}

fn event_steps(tx: &mut dyn Tx, stored: &StoredEvent, steps: &mut Vec<TrailStep>) -> Result<()> {
    let event = &stored.event;
    let id = event.id.as_str();
    let place = &event.inbound.conversation.conversation_id;
    steps.push(step(
        event.received_at,
        event.seq,
        "event",
        id,
        format!("received {} in {place}", event.kind),
    ));
    let taken = policy::explain_event(tx, stored, &policy::PolicyDraft::default())?;
    if taken.decision == event.decision && taken.reason == event.reason {
        for row in taken.steps {
            let text = format!("step {}: {} ({}) → {}", row.step, row.condition, row.value, row.result);
            steps.push(step(event.received_at, event.seq, "decision", id, text));
        }
    }
    let mut last = step(
        event.received_at,
        event.seq,
        "decision",
        id,
        format!("{} at step {}", event.decision, event.step),
    );
    last.code = Some(event.reason.as_str().to_owned());
    steps.push(last);
    Ok(())
}

fn item_steps(tx: &mut dyn Tx, stored: &StoredItem, steps: &mut Vec<TrailStep>) -> Result<()> {
    let item = &stored.item;
    let agent: Option<Agent> = docs::get(tx, item.agent_id.as_str())?;
    let name = agent.map_or_else(|| item.agent_id.to_string(), |agent| agent.name);
    steps.push(step(item.created_at, item.seq, "inbox", item.id.as_str(), format!("item for {name}")));
    for attempt in inbox::attempts_of(tx, &item.id)? {
        turn_steps(tx, &attempt, steps)?;
    }
    let mut now = step(item.updated_at, item.seq, "inbox", item.id.as_str(), format!("is {}", item.state));
    now.code = item.state_reason.map(|reason| reason.as_str().to_owned());
    if let Some(by) = item.blocked_by {
        now.text = format!("{}, waits: {by}", now.text);
    }
    steps.push(now);
    Ok(())
}

fn turn_steps(tx: &mut dyn Tx, attempt: &HandlingAttempt, steps: &mut Vec<TrailStep>) -> Result<()> {
    let Some(turn) = docs::get::<Turn>(tx, attempt.turn_id.as_str())? else { return Ok(()) };
    let id = turn.id.as_str();
    steps.push(step(turn.created_at, turn.seq, "turn", id, format!("Turn {} started", attempt.n)));
    if let Some(ended) = turn.ended_at {
        let mut last = step(ended, turn.seq, "turn", id, format!("Turn {}", turn.state));
        last.code = attempt.error.as_ref().map(|error| error.class.clone());
        steps.push(last);
    }
    Ok(())
}

fn send_steps(tx: &mut dyn Tx, send: &OutboxItem, steps: &mut Vec<TrailStep>) -> Result<()> {
    let id = send.id.as_str();
    let mut first =
        step(send.created_at, send.seq, "outbox", id, format!("send of {} parts", send.total_parts));
    first.code = send.state_reason.map(|reason| reason.as_str().to_owned());
    steps.push(first);
    for part in outbox_read::parts_of(tx, &send.id)? {
        steps.push(match &part.receipt {
            Some(receipt) => delivered(&part, receipt),
            None => undelivered(send, &part),
        });
    }
    Ok(())
}

fn delivered(part: &Part, receipt: &Receipt) -> TrailStep {
    let external = receipt.external_message_id.as_ref().or(receipt.external_file_id.as_ref());
    let external = external.map_or("-", String::as_str);
    let text = format!("part {} delivered as {external} ({})", part.n, receipt.via);
    step(receipt.recorded_at, part.seq, "receipt", part.id.as_str(), text)
}

fn undelivered(send: &OutboxItem, part: &Part) -> TrailStep {
    let waits = part.blocked_by.filter(|_| part.state == PartState::Pending);
    let waits = waits.map_or_else(String::new, |by| format!(", waits: {by}"));
    let text = format!("part {} is {}{waits}", part.n, part.state);
    let code = part.last_error.as_ref().map(|error| error.code.clone());
    TrailStep { code, ..step(send.updated_at, part.seq, "part", part.id.as_str(), text) }
}

/// How the path ended: the newest send counts, else the newest item, else the newest Event.
fn verdict(path: &Path) -> (&'static str, Option<String>) {
    let newest = path.sends.iter().filter(|send| send.superseded_by.is_none()).max_by_key(|send| send.seq);
    if let Some(send) = newest {
        return send_verdict(send);
    }
    if let Some(stored) = path.items.iter().max_by_key(|stored| stored.item.seq) {
        return item_verdict(stored);
    }
    match path.events.iter().max_by_key(|stored| stored.event.seq) {
        Some(stored) if stored.is_refusal() => ("REFUSED", Some(stored.event.reason.as_str().to_owned())),
        Some(stored) => ("DELIVERED", Some(stored.event.reason.as_str().to_owned())),
        None => ("UNKNOWN", None),
    }
}

fn send_verdict(send: &OutboxItem) -> (&'static str, Option<String>) {
    let reason = send.state_reason.map(|reason| reason.as_str().to_owned());
    let error = send.last_error.as_ref().map(|error| error.code.clone());
    match send.state {
        SendState::Sent => ("DELIVERED", None),
        SendState::Failed => ("FAILED", error.or(reason)),
        SendState::Unknown => ("UNKNOWN", error.or(reason)),
        SendState::Expired => ("EXPIRED", reason.or(error)),
        SendState::Cancelled => ("CANCELLED", reason),
        SendState::Held | SendState::Pending | SendState::Sending | SendState::RetryWait => {
            ("WAITING", reason.or(error).or_else(|| Some(send.state.as_str().to_owned())))
        }
    }
}

fn item_verdict(stored: &StoredItem) -> (&'static str, Option<String>) {
    let item = &stored.item;
    let reason = item.state_reason.map(|reason| reason.as_str().to_owned());
    let blocked = item.blocked_by.map(|by| by.as_str().to_owned());
    match item.state {
        ItemState::Handled => ("DELIVERED", item.outcome.map(|outcome| outcome.as_str().to_owned())),
        ItemState::Failed => ("FAILED", reason),
        ItemState::Cancelled => ("CANCELLED", reason),
        ItemState::Expired => ("EXPIRED", reason),
        ItemState::PendingAccess => ("WAITING", Some("access_pending".to_owned())),
        ItemState::Queued
        | ItemState::Handling
        | ItemState::AwaitingDelivery
        | ItemState::Deferred
        | ItemState::NeedsDecision
        | ItemState::Interrupted => {
            ("WAITING", blocked.or(reason).or_else(|| Some(item.state.as_str().to_owned())))
        }
    }
}
