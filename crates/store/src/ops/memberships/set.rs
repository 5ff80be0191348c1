//! Creates and changes Memberships (messaging specification 1.6).

use loom_api::{Mutation, request::SetMembership};
use loom_domain::{
    Address, AddressId, Candidate, Capability, Code, Connection, ConversationType, DmPolicy, Error,
    Membership, MembershipId, OutboundPolicy, Result, TriggerPolicy, membership, quiet,
    validate::{
        PROACTIVE_PER_HOUR, TTL_SECONDS, check_actor_id, check_conversation_id, check_membership_actor,
        check_range, membership_texts,
    },
};

use super::{edit, switch};
use crate::{
    Tx, Unit, docs,
    ops::{addresses, change},
    params,
};

const CLEARABLE: &[&str] = &["displayName", "purpose", "role", "guidance", "quietHours"];

/// Creates or changes the Membership of a conversation.
pub(crate) fn set(
    unit: &mut Unit<'_>,
    address: &AddressId,
    conversation: &str,
    request: &SetMembership,
) -> Result<Mutation<Membership>> {
    change::check_clear(&request.clear, CLEARABLE)?;
    let address: Address = docs::require_locked(unit.tx, address.as_str())?;
    addresses::check_live(&address)?;
    let connection: Connection = docs::require(unit.tx, address.connection_id.as_str())?;
    let mut warnings: Vec<String> =
        check_conversation_id(&connection.provider, conversation)?.into_iter().collect();
    let present: Option<Membership> = docs::find(
        unit.tx,
        "address_id = ?1 AND conversation_id = ?2 AND archived = 0",
        &params![address.id.as_str(), conversation],
    )?;
    let (before, mut after) = match present {
        Some(present) => (Some(present.clone()), present),
        None => (None, blank(unit, &address, conversation, request)?),
    };
    check_fixed(before.as_ref(), request)?;
    apply(&mut after, request, &address, &connection)?;
    if let Some(actor) = &after.actor_id {
        warnings.extend(check_actor_id(&connection.provider, actor)?);
    }
    check(&after)?;
    warnings.extend(remarks(unit.tx, &address, &after)?);
    store(unit, &address, before.as_ref(), after, request, warnings)
}

fn store(
    unit: &mut Unit<'_>,
    address: &Address,
    before: Option<&Membership>,
    mut after: Membership,
    request: &SetMembership,
    mut warnings: Vec<String>,
) -> Result<Mutation<Membership>> {
    let agent = address.agent_id.to_string();
    let was_enabled = before.is_some_and(|membership| membership.enabled);
    let turns_on = after.enabled && !was_enabled;
    if turns_on {
        switch::approve(unit, address, &mut after)?;
        warnings.push(format!("widens access: {} is enabled", after.conversation_id));
    }
    let mut answer = match before {
        None => {
            match request.expected_version {
                None | Some(0) => {}
                Some(_) => {
                    return Err(Error::new(Code::VersionConflict, "the membership does not exist yet"));
                }
            }
            change::create(unit, &after, &edit("membership.create", &agent, None, &warnings))?;
            Mutation::created(after)
        }
        Some(before) => {
            if is_empty(request) {
                return Err(change::nothing());
            }
            let edit = edit("membership.update", &agent, request.expected_version, &warnings);
            let changed = change::commit(unit, before, &mut after, &edit)?;
            Mutation::changed(after, changed)
        }
    };
    if turns_on {
        warnings.extend(switch::admit_pending(unit, &answer.object, false)?);
    }
    answer.warnings = warnings;
    Ok(answer)
}

fn is_empty(request: &SetMembership) -> bool {
    (SetMembership { expected_version: None, ..request.clone() }) == SetMembership::default()
}

fn blank(
    unit: &mut Unit<'_>,
    address: &Address,
    conversation: &str,
    request: &SetMembership,
) -> Result<Membership> {
    Ok(Membership {
        id: MembershipId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        address_id: address.id.clone(),
        conversation_id: conversation.to_owned(),
        conversation_type: request.conversation_type.unwrap_or(ConversationType::Group),
        actor_id: None,
        display_name: conversation.to_owned(),
        purpose: String::new(),
        role: String::new(),
        guidance: String::new(),
        trigger_policy: None,
        reply_policy: None,
        outbound_policy: OutboundPolicy::ReplyOnly,
        trust_domain: address.trust_domain.clone(),
        quiet_hours: None,
        ttl_seconds: membership::TTL_SECONDS,
        proactive_per_hour: membership::PROACTIVE_PER_HOUR,
        enabled: false,
        first_enabled_at: None,
        enabled_by: None,
        superseded_by: None,
        archived_at: None,
        created_at: unit.now,
        updated_at: unit.now,
    })
}

/// Kind and person of a conversation never change.
fn check_fixed(before: Option<&Membership>, request: &SetMembership) -> Result<()> {
    let Some(before) = before else { return Ok(()) };
    let fixed = |field: &str| {
        Error::new(Code::ImmutableField, format!("{field} of {} cannot change", before.id))
            .with_hint("archive it and create the right one")
            .with_detail("field", field)
    };
    if request.conversation_type.is_some_and(|kind| kind != before.conversation_type) {
        return Err(fixed("conversationType"));
    }
    let other_actor = request.actor_id.is_some() && request.actor_id != before.actor_id;
    if other_actor && before.actor_id.is_some() {
        return Err(fixed("actorId"));
    }
    Ok(())
}

fn apply(
    membership: &mut Membership,
    request: &SetMembership,
    address: &Address,
    connection: &Connection,
) -> Result<()> {
    for name in &request.clear {
        match name.as_str() {
            "displayName" => membership.display_name.clone_from(&membership.conversation_id),
            "purpose" => membership.purpose.clear(),
            "role" => membership.role.clear(),
            "guidance" => membership.guidance.clear(),
            _ => membership.quiet_hours = None,
        }
    }
    let texts = [
        (&mut membership.display_name, &request.display_name),
        (&mut membership.purpose, &request.purpose),
        (&mut membership.role, &request.role),
        (&mut membership.guidance, &request.guidance),
    ];
    for (field, value) in texts {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    if request.actor_id.is_some() {
        membership.actor_id.clone_from(&request.actor_id);
    }
    if let Some(trigger) = request.trigger_policy {
        addresses::check_trigger(trigger, connection)?;
        membership.trigger_policy = Some(in_kind(trigger, membership.conversation_type));
    }
    membership.reply_policy = request.reply_policy.or(membership.reply_policy);
    membership.outbound_policy = request.outbound_policy.unwrap_or(membership.outbound_policy);
    check_proactive(membership, connection)?;
    if request.trust_domain.as_ref().is_some_and(|domain| *domain != address.trust_domain) {
        return Err(Error::new(
            Code::TrustConflict,
            format!("the trust domain of {} is {}", address.id, address.trust_domain),
        )
        .with_hint("use a separate Agent for the other trust domain"));
    }
    membership.ttl_seconds = request.ttl_seconds.unwrap_or(membership.ttl_seconds);
    membership.proactive_per_hour = request.proactive_per_hour.unwrap_or(membership.proactive_per_hour);
    if request.quiet_hours.is_some() {
        membership.quiet_hours.clone_from(&request.quiet_hours);
    }
    membership.enabled = request.enabled.unwrap_or(membership.enabled);
    Ok(())
}

/// In a DM every message is addressed to the Agent, so `mention` and `all` mean `direct`.
fn in_kind(trigger: TriggerPolicy, kind: ConversationType) -> TriggerPolicy {
    match trigger {
        TriggerPolicy::Mention | TriggerPolicy::All if kind.is_dm() => TriggerPolicy::Direct,
        other => other,
    }
}

fn check_proactive(membership: &Membership, connection: &Connection) -> Result<()> {
    let lacks = !connection.capabilities.contains(&Capability::ProactiveSend);
    if membership.outbound_policy == OutboundPolicy::Proactive && lacks {
        return Err(Error::new(Code::CapabilityMissing, format!("{} lacks proactive_send", connection.id))
            .with_detail("capability", "proactive_send"));
    }
    Ok(())
}

fn check(membership: &Membership) -> Result<()> {
    check_membership_actor(membership.conversation_type, membership.actor_id.as_deref())?;
    membership_texts(&membership.display_name, &membership.purpose, &membership.role, &membership.guidance)?;
    check_range("ttlSeconds", membership.ttl_seconds, &TTL_SECONDS)?;
    check_range("proactivePerHour", u64::from(membership.proactive_per_hour), &PROACTIVE_PER_HOUR)?;
    membership.quiet_hours.as_ref().map_or(Ok(()), quiet::check)
}

/// What keeps the Membership from having an effect.
fn remarks(tx: &mut dyn Tx, address: &Address, membership: &Membership) -> Result<Vec<String>> {
    let conversation = &membership.conversation_id;
    let candidate: Option<Candidate> = docs::find(
        tx,
        "address_id = ?1 AND conversation_id = ?2",
        &params![address.id.as_str(), conversation.as_str()],
    )?;
    let actor = membership.actor_id.as_ref();
    let excluded = |list: &[String], id: &String| !list.is_empty() && !list.contains(id);
    let facts = [
        (candidate.is_some_and(|c| !c.bot_is_member), "the bot is not a member of this conversation"),
        (address.block_conversations.contains(conversation), "blockConversations excludes it"),
        (excluded(&address.allow_conversations, conversation), "allowConversations excludes it"),
        (actor.is_some_and(|id| address.block_actors.contains(id)), "blockActors excludes the actor"),
        (actor.is_some_and(|id| excluded(&address.allow_actors, id)), "allowActors excludes the actor"),
        (
            membership.conversation_type.is_dm() && address.dm_policy == DmPolicy::Closed,
            "the address takes no DMs (dmPolicy closed)",
        ),
    ];
    Ok(facts.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect())
}
