//! Decisions about Inbox items: no reply, later, again, never.

use loom_api::request::{Cancel, Defer, NoReply, Retry};
use loom_domain::{
    Address, Code, Error, InboxId, Message, Result, Timestamp,
    inbox::{Event as ItemEvent, Item, State, limits::NOTE_BYTES_MAX},
    message::AttachmentStatus,
    validate::check_text,
};
use serde_json::json;

use crate::{
    Act, Audit, Store, Unit, docs,
    ops::{inbound, items, lookup},
    records::StoredItem,
};

impl Store {
    /// Decides that no reply will be sent. A repeat changes nothing.
    pub async fn no_reply(&self, act: Act, id: InboxId, request: NoReply) -> Result<Item> {
        self.write(act, move |unit| {
            let mut stored = own(unit, &id, request.agent.as_deref())?;
            let reason = request.reason.clone().unwrap_or_default();
            check_text("reason", &reason, NOTE_BYTES_MAX)?;
            items::step(unit, &mut stored, &ItemEvent::NoReply { reason })?;
            Ok(stored.item)
        })
        .await
    }

    /// Puts an item off until a time.
    pub async fn defer(&self, act: Act, id: InboxId, request: Defer) -> Result<Item> {
        self.write(act, move |unit| {
            let mut stored = own(unit, &id, request.agent.as_deref())?;
            let until = until(unit.now, &request)?;
            items::step(unit, &mut stored, &ItemEvent::Defer { until })?;
            if let Some(reason) = &request.reason {
                check_text("reason", reason, NOTE_BYTES_MAX)?;
                stored.item.note = Some(reason.clone());
                docs::update(unit.tx, &stored)?;
            }
            Ok(stored.item)
        })
        .await
    }

    /// Tries an item again. A pending one is judged again and needs an enabled Membership.
    pub async fn retry_item(&self, act: Act, id: InboxId, request: Retry) -> Result<Item> {
        self.write(act, move |unit| retry(unit, &id, &request)).await
    }

    /// Closes an item that is not final; `block` refuses its sender from now on.
    pub async fn cancel_item(&self, act: Act, id: InboxId, request: Cancel) -> Result<Item> {
        self.write(act, move |unit| cancel(unit, &id, &request)).await
    }

    /// Lets one quarantined file of an item through.
    pub async fn release_attachment(
        &self,
        act: Act,
        id: InboxId,
        artifact: loom_domain::ArtifactId,
    ) -> Result<Message> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let stored: StoredItem = docs::require(unit.tx, id.as_str())?;
            let mut message: Message = docs::require_locked(unit.tx, stored.item.message_id.as_str())?;
            let held = message.current_mut().attachments.iter_mut().find(|file| {
                file.artifact_id.as_ref() == Some(&artifact) && file.status == AttachmentStatus::Quarantined
            });
            let Some(file) = held else {
                return Err(Error::not_found("quarantined file", artifact.as_str()));
            };
            file.status = AttachmentStatus::Ready;
            file.reason = None;
            docs::update(unit.tx, &message)?;
            unit.change(
                "message.changed",
                message.id.as_str(),
                Some(stored.item.agent_id.as_str()),
                0,
                &["content"],
            )?;
            unit.audit(&Audit {
                action: "attachment.release",
                object: id.as_str(),
                versions: (None, None),
                outcome: "ok",
                detail: json!({"artifact": artifact}),
            })?;
            Ok(message)
        })
        .await
    }
}

/// The item, when the principal (and the Agent named beside it) may decide about it.
fn own(unit: &mut Unit<'_>, id: &InboxId, named: Option<&str>) -> Result<StoredItem> {
    let stored: StoredItem = docs::require_locked(unit.tx, id.as_str())?;
    unit.principal.require_agent(&stored.item.agent_id)?;
    if let Some(name) = named {
        let agent = lookup::agent(unit.tx, name)?;
        if agent.id != stored.item.agent_id {
            return Err(Error::new(Code::NotOwnerOfItem, format!("{id} belongs to another Agent")));
        }
    }
    Ok(stored)
}

fn until(now: Timestamp, request: &Defer) -> Result<Timestamp> {
    match (request.until, request.for_seconds) {
        (Some(until), None) => Ok(until),
        (None, Some(seconds)) => {
            Ok(now.plus_ms(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000)))
        }
        (Some(_), Some(_)) => {
            Err(Error::new(Code::MutuallyExclusive, "give either `until` or `forSeconds`, not both"))
        }
        (None, None) => Err(Error::new(Code::MissingField, "give `until` or `forSeconds`")),
    }
}

fn retry(unit: &mut Unit<'_>, id: &InboxId, request: &Retry) -> Result<Item> {
    let mut stored = own(unit, id, request.agent.as_deref())?;
    if stored.item.state == State::PendingAccess {
        unit.principal.require_owner()?;
        inbound::rejudge_item(unit, &mut stored)?;
        if stored.item.state == State::PendingAccess {
            return Err(Error::new(
                Code::MembershipRequired,
                format!("no enabled Membership covers the sender of {id}"),
            ));
        }
        return Ok(stored.item);
    }
    let address: Option<Address> = match &stored.item.address_id {
        Some(address) => docs::get(unit.tx, address.as_str())?,
        None => None,
    };
    let address_active = stored.item.address_id.is_none()
        || address.is_some_and(|a| a.archived_at.is_none() && a.deleted_at.is_none());
    let event = ItemEvent::Retry { after_partial: request.after_partial, address_active };
    items::step(unit, &mut stored, &event)?;
    Ok(stored.item)
}

fn cancel(unit: &mut Unit<'_>, id: &InboxId, request: &Cancel) -> Result<Item> {
    unit.principal.require_owner()?;
    let mut stored = own(unit, id, None)?;
    let is_pending = inbound::is_pending(&stored);
    let event = if is_pending { ItemEvent::Deny { block: request.block } } else { ItemEvent::Cancel };
    items::step(unit, &mut stored, &event)?;
    if request.block && !is_pending {
        items::block_actor(unit, &stored)?;
    }
    if let Some(reason) = &request.reason {
        check_text("reason", reason, NOTE_BYTES_MAX)?;
        stored.item.note = Some(reason.clone());
        docs::update(unit.tx, &stored)?;
    }
    Ok(stored.item)
}
