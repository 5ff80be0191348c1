//! Decisions of the owner or Agent about Outbox items.

use loom_domain::{
    Code, Error, OutboxId, OutboxItem, PartId, Receipt, Result,
    inbox::{Event as ItemEvent, State as ItemState},
    outbox::{OutboxReason, OwnerVerdict, PartEvent, PartKind, PartState, State, Stop, Via},
};
use serde_json::json;

use super::parts;
use crate::{
    Audit, Topic, Unit, docs,
    ops::items,
    params,
    records::{StoredItem, StoredPart},
};

/// What the owner says became of an unknown Part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerSettle {
    /// It arrived, under this provider id where known.
    Sent {
        /// Provider's message id.
        external_id: Option<String>,
    },
    /// It did not; send it again.
    Resend,
    /// It did not; do not send it.
    Failed,
}

fn load(unit: &mut Unit<'_>, id: &OutboxId) -> Result<OutboxItem> {
    let item: OutboxItem = docs::require_locked(unit.tx, id.as_str())?;
    unit.principal.require_agent(&item.agent_id)?;
    Ok(item)
}

fn parts_of(unit: &mut Unit<'_>, id: &OutboxId) -> Result<Vec<StoredPart>> {
    docs::select(unit.tx, "outbox_id = ?1 ORDER BY n", &params![id.as_str()])
}

fn record(unit: &mut Unit<'_>, item: &OutboxItem, action: &str, detail: serde_json::Value) -> Result<()> {
    unit.audit(&Audit {
        action,
        object: item.id.as_str(),
        versions: (None, Some(item.version)),
        outcome: item.state.as_str(),
        detail,
    })
}

pub(super) fn retry(unit: &mut Unit<'_>, id: &OutboxId) -> Result<OutboxItem> {
    let mut item = load(unit, id)?;
    if !matches!(item.state, State::Failed | State::Expired) {
        return Err(invalid(&item, "retry"));
    }
    let superseded = item.superseded_by.is_some();
    let stopped = parts_of(unit, id)?
        .into_iter()
        .find(|p| matches!(p.part.state, PartState::Failed | PartState::Expired));
    let Some(mut stored) = stopped else { return Err(invalid(&item, "retry")) };
    let context = parts::context(unit, &stored, None, None);
    parts::apply(unit, &mut item, &mut stored, None, &PartEvent::Retry { superseded }, &context)?;
    item.last_error = None;
    item.state_reason = None;
    parts::refold(unit, &mut item)?;
    if let Some(inbox_id) = item.inbox_item_id.clone() {
        let mut inbox: StoredItem = docs::require_locked(unit.tx, inbox_id.as_str())?;
        if inbox.item.state == ItemState::Failed {
            items::step(unit, &mut inbox, &ItemEvent::OutboxRetry)?;
        }
    }
    record(unit, &item, "outbox.retry", json!({}))?;
    unit.wake(Topic::Outbox);
    Ok(item)
}

pub(super) fn cancel(unit: &mut Unit<'_>, id: &OutboxId, reason: Option<&str>) -> Result<OutboxItem> {
    let mut item = load(unit, id)?;
    match item.state {
        State::Unknown | State::Sent | State::Cancelled | State::Expired => {
            return Err(invalid(&item, "cancel"));
        }
        State::Held | State::Pending | State::RetryWait | State::Failed | State::Sending => {}
    }
    parts::stop_all(unit, &mut item, Stop::Cancelled(OutboxReason::OwnerCancelled))?;
    record(unit, &item, "outbox.cancel", json!({"reason": reason}))?;
    Ok(item)
}

fn invalid(item: &OutboxItem, what: &str) -> Error {
    Error::new(Code::InvalidState, format!("{} is {}; it takes no {what}", item.id, item.state))
        .with_detail("state", item.state.as_str())
        .with_hint(what_works(item))
}

/// What the owner can do with a send in its state.
fn what_works(item: &OutboxItem) -> String {
    let id = &item.id;
    match item.state {
        State::Unknown => format!("loom outbox settle {id} --sent|--resend|--failed --confirm {id}"),
        State::Sent | State::Cancelled => "Nothing is left to do: it is closed.".to_owned(),
        State::Failed | State::Expired => format!("loom outbox retry {id}"),
        State::Held | State::Pending | State::Sending | State::RetryWait => {
            format!("It goes on by itself; `loom outbox cancel {id}` stops it.")
        }
    }
}

pub(super) fn settle(
    unit: &mut Unit<'_>,
    id: &OutboxId,
    only: Option<&PartId>,
    settle: &OwnerSettle,
) -> Result<OutboxItem> {
    unit.principal.require_owner()?;
    let mut item = load(unit, id)?;
    let unknown: Vec<StoredPart> = parts_of(unit, id)?
        .into_iter()
        .filter(|p| p.part.state == PartState::Unknown && only.is_none_or(|only| *only == p.part.id))
        .collect();
    if unknown.is_empty() {
        return Err(Error::new(Code::InvalidState, format!("{id} has no such unknown part"))
            .with_detail("state", item.state.as_str())
            .with_hint(what_works(&item)));
    }
    for mut stored in unknown {
        let verdict = match settle {
            OwnerSettle::Sent { external_id } => {
                OwnerVerdict::Sent(receipt(unit, &stored, external_id.as_deref()))
            }
            OwnerSettle::Resend => OwnerVerdict::Resend,
            OwnerSettle::Failed => OwnerVerdict::Failed,
        };
        let attempt = parts::newest_attempt(unit, &stored.part.id)?;
        let context = parts::context(unit, &stored, attempt.as_ref(), None);
        parts::apply(unit, &mut item, &mut stored, attempt, &PartEvent::Owner(verdict), &context)?;
    }
    parts::refold(unit, &mut item)?;
    record(unit, &item, "outbox.settle", json!({"as": format!("{settle:?}")}))?;
    unit.wake(Topic::Outbox);
    Ok(item)
}

fn receipt(unit: &Unit<'_>, stored: &StoredPart, external_id: Option<&str>) -> Receipt {
    let is_text = stored.part.kind == PartKind::Text;
    Receipt {
        kind: stored.part.kind,
        external_message_id: external_id.filter(|_| is_text).map(str::to_owned),
        external_file_id: external_id.filter(|_| !is_text).map(str::to_owned),
        external_thread_id: None,
        permalink: None,
        artifact_id: stored.part.artifact_id.clone(),
        provider_time: None,
        attempt_id: None,
        via: Via::Owner,
        recorded_at: unit.now,
    }
}
