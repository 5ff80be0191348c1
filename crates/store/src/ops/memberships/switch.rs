//! Enables, disables and archives Memberships.

use loom_api::{
    Mutation,
    request::{Confirm, EnableMembership},
};
use loom_domain::{Address, Candidate, Code, Error, Membership, MembershipId, Result};

use super::{edit, live};
use crate::{
    Unit, docs,
    ops::{change, connections::waiting_words, inbound},
    params,
    records::StoredItem,
};

pub(super) fn enable(
    unit: &mut Unit<'_>,
    id: &MembershipId,
    request: &EnableMembership,
) -> Result<Mutation<Membership>> {
    let (before, address) = live(unit, id)?;
    let mut after = Membership { enabled: true, ..before.clone() };
    let mut warnings = Vec::new();
    if !before.enabled {
        approve(unit, &address, &mut after)?;
        warnings.push(format!("widens access: {} is enabled", after.conversation_id));
    }
    let agent = address.agent_id.to_string();
    let edit = edit("membership.enable", &agent, request.expected_version, &warnings);
    let changed = change::commit(unit, &before, &mut after, &edit)?;
    warnings.extend(admit_pending(unit, &after, request.keep_pending)?);
    unit.wake(crate::Topic::Inbox);
    unit.wake(crate::Topic::Outbox);
    Ok(change::changed(after, changed, warnings))
}

/// Records who approved a Membership and when; refused while the platform says that the bot is not there.
pub(super) fn approve(unit: &mut Unit<'_>, address: &Address, membership: &mut Membership) -> Result<()> {
    let candidate: Option<Candidate> = docs::find(
        unit.tx,
        "address_id = ?1 AND conversation_id = ?2",
        &params![address.id.as_str(), membership.conversation_id.as_str()],
    )?;
    if candidate.is_some_and(|candidate| !candidate.bot_is_member) {
        return Err(Error::new(
            Code::BotNotMember,
            format!("the bot is not a member of {}", membership.conversation_id),
        ));
    }
    membership.first_enabled_at = membership.first_enabled_at.or(Some(unit.now));
    membership.enabled_by = Some(unit.principal.to_string());
    Ok(())
}

/// Judges the pending items of an approved sender again, oldest first. Tells what became of each.
pub(super) fn admit_pending(
    unit: &mut Unit<'_>,
    membership: &Membership,
    keep_pending: bool,
) -> Result<Vec<String>> {
    let Some(actor) = membership.actor_id.as_deref().filter(|_| !keep_pending) else { return Ok(Vec::new()) };
    let pending: Vec<StoredItem> = docs::select(
        unit.tx,
        "address_id = ?1 AND conversation_id = ?2 AND sender_id = ?3 AND state = 'pending_access' AND open = 1 ORDER BY seq",
        &params![membership.address_id.as_str(), membership.conversation_id.as_str(), actor],
    )?;
    let mut told = Vec::with_capacity(pending.len());
    for mut stored in pending {
        inbound::rejudge_item(unit, &mut stored)?;
        told.push(format!("{} pending_access → {}", stored.item.id, stored.item.state));
    }
    Ok(told)
}

pub(super) fn disable(
    unit: &mut Unit<'_>,
    id: &MembershipId,
    expected: Option<u64>,
) -> Result<Mutation<Membership>> {
    let (before, address) = live(unit, id)?;
    let mut after = Membership { enabled: false, ..before.clone() };
    let agent = address.agent_id.to_string();
    let changed =
        change::commit(unit, &before, &mut after, &edit("membership.disable", &agent, expected, &[]))?;
    let parts = "SELECT COUNT(*) FROM parts WHERE open = 1 AND outbox_id IN (SELECT id FROM outbox WHERE membership_id = ?1 AND open = 1)";
    let items = "SELECT COUNT(*) FROM inbox WHERE address_id = ?1 AND conversation_id = ?2 AND open = 1 AND state = 'queued'";
    let parts = unit.tx.number(parts, &params![id.as_str()])?;
    let items = unit.tx.number(items, &params![address.id.as_str(), before.conversation_id.as_str()])?;
    Ok(change::changed(after, changed, waiting_words(parts, items, "membership_disabled")))
}

pub(super) fn archive(
    unit: &mut Unit<'_>,
    id: &MembershipId,
    request: &Confirm,
    dry_run: bool,
) -> Result<Mutation<Membership>> {
    let (before, address) = live(unit, id)?;
    if !dry_run && request.confirm.as_deref() != Some(id.as_str()) {
        return Err(Error::new(Code::ConfirmationRequired, format!("confirm with the id {id}"))
            .with_hint(format!("repeat with --confirm {id}")));
    }
    let mut after = Membership { enabled: false, archived_at: Some(unit.now), ..before.clone() };
    let agent = address.agent_id.to_string();
    let edit = edit("membership.archive", &agent, request.expected_version, &[]);
    let changed = change::commit(unit, &before, &mut after, &edit)?;
    Ok(change::changed(after, changed, Vec::new()))
}
