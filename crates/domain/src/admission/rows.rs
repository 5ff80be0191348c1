//! The rows of the admission table.

use super::{AdmissionInput, CHUNKS_MAX, Held, Purpose};
use crate::artifact::{FILE_BYTES_MAX, FILES_PER_SEND_MAX, TEXT_BYTES_MAX};
use crate::idempotency::{self, Verdict};
use crate::inbox::State;
use crate::message::Origin;
use crate::outbox::schedule::OPEN_PER_AGENT_MAX;
use crate::{
    Address, AgentId, Capability, Code, Connection, Error, Expectation, OutboundPolicy, ReplyPolicy,
    bot_loop, trust,
};

/// Row 1.
pub(super) fn principal(input: &AdmissionInput<'_>) -> Result<(), Error> {
    match input.purpose {
        Purpose::Reply { item: Some(item), .. } => input.principal.require_agent(&item.agent_id),
        Purpose::Reply { item: None, .. } => Ok(()),
        Purpose::Proactive { from, .. } => input
            .principal
            .require_agent(from)
            .map_err(|error| Error { code: Code::Forbidden, ..error }.with_hint(Code::Forbidden.hint())),
    }
}

/// Row 2.
pub(super) fn exists(input: &AdmissionInput<'_>) -> Result<(), Error> {
    match input.purpose {
        Purpose::Reply { item: None, .. } => Err(Error::new(Code::NotFound, "no such Inbox item")),
        Purpose::Reply { item: Some(item), origin, .. } if origin != Origin::Provider => {
            Err(Error::new(Code::InternalItem, format!("{} is no platform item", item.id)))
        }
        Purpose::Proactive { .. } if input.membership.is_none() => {
            Err(Error::new(Code::MembershipRequired, "no such Membership"))
        }
        _ => Ok(()),
    }
}

/// Rows 3 and 4. The same content again is answered by the earlier item also when that item has closed the
/// Inbox item meanwhile.
pub(super) fn idempotency(input: &AdmissionInput<'_>) -> Result<Verdict, Error> {
    let is_same = input.earlier.is_some_and(|earlier| earlier.fingerprint == input.fingerprint);
    let is_reply = match input.purpose {
        Purpose::Reply { item, .. } => {
            let state = item.map(|item| item.state);
            if state == Some(State::PendingAccess) {
                return Err(Error::new(Code::AccessPending, "the sender is not approved yet"));
            }
            if state.is_some_and(State::is_final) && !is_same {
                return Err(Error::new(Code::AlreadyDecided, "the item has its final decision"));
            }
            true
        }
        Purpose::Proactive { .. } => {
            if input.request.idempotency_key.is_none() {
                return Err(Error::new(Code::IdempotencyKeyRequired, "a proactive send needs a key"));
            }
            false
        }
    };
    input.request.idempotency_key.as_deref().map_or(Ok(()), idempotency::check_key)?;
    idempotency::judge(input.earlier.as_ref(), input.fingerprint, is_reply)
}

/// Row 5.
pub(super) fn target(input: &AdmissionInput<'_>) -> Result<(), Error> {
    let target = &input.request.target;
    let is_given = target.thread_id.is_some() || target.message_id.is_some();
    match input.purpose {
        Purpose::Reply { .. } if is_given => {
            Err(Error::new(Code::TargetNotAllowed, "a reply inherits its thread and message"))
        }
        Purpose::Proactive { target_belongs: Some(false), .. } if is_given => {
            Err(Error::new(Code::TargetMismatch, "the target is of another conversation"))
        }
        _ => Ok(()),
    }
}

/// Row 6.
pub(super) fn content(input: &AdmissionInput<'_>) -> Result<(), Error> {
    let request = input.request;
    if request.text.trim().is_empty() && request.files.is_empty() {
        return Err(Error::new(Code::MissingField, "give a text or a file"));
    }
    if request.text.len() > TEXT_BYTES_MAX {
        return Err(Error::new(Code::TextTooLong, format!("a text has at most {TEXT_BYTES_MAX} bytes")));
    }
    if request.files.len() > FILES_PER_SEND_MAX {
        return Err(Error::new(Code::TooMany, format!("a send has at most {FILES_PER_SEND_MAX} files")));
    }
    let is_sized = |size: u64| (1..=FILE_BYTES_MAX).contains(&size);
    if let Some(place) = request.files.iter().position(|file| !is_sized(file.size)) {
        let message = format!("a file has 1 to {FILE_BYTES_MAX} bytes");
        return Err(Error::new(Code::TooLarge, message).with_detail("file", place + 1));
    }
    if input.chunks.is_some_and(|chunks| chunks > CHUNKS_MAX) {
        return Err(Error::new(Code::TextTooLong, format!("the text needs more than {CHUNKS_MAX} messages")));
    }
    Ok(())
}

/// Row 7.
pub(super) fn switches<'a>(input: &AdmissionInput<'a>) -> Result<(&'a Connection, &'a Address), Error> {
    let connection = input.connection.ok_or_else(|| Error::new(Code::NotFound, "no Connection"))?;
    let address = input.address.ok_or_else(|| Error::new(Code::NotFound, "no Address"))?;
    superseded(connection.superseded_by.as_ref().map(ToString::to_string))?;
    superseded(address.superseded_by.as_ref().map(ToString::to_string))?;
    if address.deleted_at.is_some() {
        return Err(Error::new(Code::Deleted, format!("{} is deleted", address.id)));
    }
    archived(connection.archived_at.is_some(), connection.id.as_str())?;
    archived(address.archived_at.is_some(), address.id.as_str())?;
    enabled(connection.enabled, connection.id.as_str())?;
    enabled(address.enabled, address.id.as_str())?;
    if sending_agent(input).is_some_and(|agent| *agent != address.agent_id) {
        return Err(Error::new(Code::AddressNotOwned, format!("{} belongs to another Agent", address.id)));
    }
    Ok((connection, address))
}

fn sending_agent<'a>(input: &AdmissionInput<'a>) -> Option<&'a AgentId> {
    match input.purpose {
        Purpose::Reply { item, .. } => item.map(|item| &item.agent_id),
        Purpose::Proactive { from, .. } => Some(from),
    }
}

fn superseded(by: Option<String>) -> Result<(), Error> {
    by.map_or(Ok(()), |by| {
        let error = Error::new(Code::Superseded, format!("replaced by {by}"));
        Err(error.with_detail("superseded_by", by))
    })
}

fn archived(is_archived: bool, id: &str) -> Result<(), Error> {
    if is_archived { Err(Error::new(Code::Archived, format!("{id} is archived"))) } else { Ok(()) }
}

fn enabled(is_enabled: bool, id: &str) -> Result<(), Error> {
    if is_enabled { Ok(()) } else { Err(Error::new(Code::Disabled, format!("{id} is switched off"))) }
}

/// Row 8.
pub(super) fn membership(input: &AdmissionInput<'_>) -> Result<(), Error> {
    let Some(membership) = input.membership else { return Ok(()) };
    superseded(membership.superseded_by.as_ref().map(ToString::to_string))?;
    archived(membership.archived_at.is_some(), membership.id.as_str())?;
    enabled(membership.enabled, membership.id.as_str())
}

/// Row 9.
pub(super) fn policies(input: &AdmissionInput<'_>) -> Result<(), Error> {
    let outbound = input.membership.map(|membership| membership.outbound_policy);
    if outbound == Some(OutboundPolicy::None) {
        return Err(Error::new(Code::OutboundDisabled, "the Membership sends nothing"));
    }
    match input.purpose {
        Purpose::Reply { reply_policy: ReplyPolicy::None, .. }
        | Purpose::Reply { expectation: Expectation::None, .. } => {
            Err(Error::new(Code::ReplyDisabled, "nothing is answered here"))
        }
        Purpose::Proactive { .. } if outbound != Some(OutboundPolicy::Proactive) => {
            Err(Error::new(Code::ProactiveNotAllowed, "the Membership only allows replies"))
        }
        _ => Ok(()),
    }
}

/// Row 10.
pub(super) fn capabilities(input: &AdmissionInput<'_>, connection: &Connection) -> Result<(), Error> {
    let is_proactive = matches!(input.purpose, Purpose::Proactive { .. });
    let needed = [
        (!input.request.files.is_empty()).then_some(Capability::AttachmentsOut),
        is_proactive.then_some(Capability::ProactiveSend),
    ];
    match needed.into_iter().flatten().find(|needed| !connection.capabilities.contains(needed)) {
        None => Ok(()),
        Some(missing) => {
            let message = format!("the Connection lacks `{missing}`");
            Err(Error::new(Code::CapabilityMissing, message).with_detail("capability", missing.as_str()))
        }
    }
}

/// Row 11.
pub(super) fn platform_files(input: &AdmissionInput<'_>) -> Result<(), Error> {
    let limit = input.platform_file_bytes_max;
    match input.request.files.iter().find(|file| file.size > limit) {
        None => Ok(()),
        Some(file) => {
            let message =
                format!("the platform takes files of at most {limit} bytes; this one has {}", file.size);
            Err(Error::new(Code::FileRefused, message)
                .with_detail("limit_bytes", limit)
                .with_detail("size_bytes", file.size))
        }
    }
}

/// Row 12.
pub(super) fn trust(input: &AdmissionInput<'_>, address: &Address) -> Option<Held> {
    let domain = input.membership.map_or(&address.trust_domain, |membership| &membership.trust_domain);
    let foreign = trust::foreign_labels(input.labels.iter().map(String::as_str), domain);
    (!foreign.is_empty()).then(|| Held::Release(foreign.into_iter().map(str::to_owned).collect()))
}

/// Row 13, looked at before row 12 stores anything, so that held items are bounded too.
pub(super) fn budgets(input: &AdmissionInput<'_>) -> Result<(), Error> {
    if input.open_of_agent >= OPEN_PER_AGENT_MAX {
        return Err(Error::new(Code::QueueFull, "the Agent has too many open sends"));
    }
    let Purpose::Proactive { last_hour, newest_senders, .. } = input.purpose else { return Ok(()) };
    if input.membership.is_some_and(|membership| last_hour >= membership.proactive_per_hour) {
        return Err(Error::new(Code::BudgetExceeded, "the proactive sends of this hour are used up"));
    }
    if bot_loop::last_are_bots(newest_senders) {
        return Err(Error::new(Code::BudgetExceeded, "the last messages of the conversation are bots'"));
    }
    Ok(())
}

/// Row 14.
pub(super) fn quiet(input: &AdmissionInput<'_>) -> Option<Held> {
    match input.purpose {
        Purpose::Proactive { quiet_until: Some(until), .. } if !input.request.urgent => {
            Some(Held::Quiet(until))
        }
        _ => None,
    }
}
