//! The settings of an Address that its owner chooses, and what widens access.

use loom_api::request::AddressPolicy;
use loom_domain::{
    Address, AttachmentPolicy, Capability, Code, Connection, DmPolicy, Error, Result, TriggerPolicy,
    validate::{check_list, check_text},
};

const DISPLAY_NAME_BYTES_MAX: usize = 1_000;

/// Empties the named lists.
pub(super) fn clear(address: &mut Address, names: &[String]) {
    for name in names {
        match name.as_str() {
            "allowActors" => address.allow_actors.clear(),
            "allowConversations" => address.allow_conversations.clear(),
            "blockActors" => address.block_actors.clear(),
            "blockConversations" => address.block_conversations.clear(),
            _ => address.allow_bots.clear(),
        }
    }
}

/// Writes the given settings, checked.
pub(super) fn apply(address: &mut Address, policy: &AddressPolicy, connection: &Connection) -> Result<()> {
    if let Some(name) = &policy.display_name {
        check_text("displayName", name, DISPLAY_NAME_BYTES_MAX)?;
        let shown = if name.is_empty() { &address.external_identity } else { name };
        address.display_name.clone_from(shown);
    }
    if let Some(trigger) = policy.trigger_policy {
        check_trigger(trigger, connection)?;
        address.trigger_policy = trigger;
    }
    address.reply_policy = policy.reply_policy.unwrap_or(address.reply_policy);
    address.dm_policy = policy.dm_policy.unwrap_or(address.dm_policy);
    address.attachment_policy = policy.attachment_policy.unwrap_or(address.attachment_policy);
    address.refusal_body = policy.refusal_body.unwrap_or(address.refusal_body);
    address.enabled = policy.enabled.unwrap_or(address.enabled);
    if let Some(domain) = &policy.trust_domain {
        address.trust_domain.clone_from(domain);
    }
    let lists = [
        ("allowActors", &mut address.allow_actors, &policy.allow_actors),
        ("allowConversations", &mut address.allow_conversations, &policy.allow_conversations),
        ("blockActors", &mut address.block_actors, &policy.block_actors),
        ("blockConversations", &mut address.block_conversations, &policy.block_conversations),
        ("allowBots", &mut address.allow_bots, &policy.allow_bots),
    ];
    for (field, list, given) in lists {
        if let Some(given) = given {
            *list = check_list(field, given)?;
        }
    }
    Ok(())
}

/// A trigger that only a confirmed dispatch meets needs a Connection that confirms dispatches.
pub(crate) fn check_trigger(trigger: TriggerPolicy, connection: &Connection) -> Result<()> {
    let lacks = !connection.capabilities.contains(&Capability::ExplicitDispatch);
    if trigger == TriggerPolicy::ExplicitDispatch && lacks {
        return Err(Error::new(
            Code::CapabilityMissing,
            format!("{} lacks explicit_dispatch", connection.id),
        )
        .with_detail("capability", "explicit_dispatch"));
    }
    Ok(())
}

const fn dm_rank(policy: DmPolicy) -> u8 {
    match policy {
        DmPolicy::Closed => 0,
        DmPolicy::Managed => 1,
        DmPolicy::Open => 2,
    }
}

const fn file_rank(policy: AttachmentPolicy) -> u8 {
    match policy {
        AttachmentPolicy::None => 0,
        AttachmentPolicy::Safe => 1,
        AttachmentPolicy::All => 2,
    }
}

fn loses(before: &[String], after: &[String]) -> bool {
    before.iter().any(|entry| !after.contains(entry))
}

/// An allow list without entries restricts nothing.
fn opens(before: &[String], after: &[String]) -> bool {
    !before.is_empty() && (after.is_empty() || loses(after, before))
}

/// One sentence for each change that lets more in.
pub(super) fn widening(before: &Address, after: &Address) -> Vec<String> {
    let facts = [
        (!before.enabled && after.enabled, "the address is enabled".to_owned()),
        (
            dm_rank(after.dm_policy) > dm_rank(before.dm_policy),
            format!("dmPolicy {} → {}", before.dm_policy, after.dm_policy),
        ),
        (
            before.trigger_policy != TriggerPolicy::All && after.trigger_policy == TriggerPolicy::All,
            format!("triggerPolicy {} → all", before.trigger_policy),
        ),
        (
            file_rank(after.attachment_policy) > file_rank(before.attachment_policy),
            format!("attachmentPolicy {} → {}", before.attachment_policy, after.attachment_policy),
        ),
        (loses(&before.block_actors, &after.block_actors), "blockActors is shorter".to_owned()),
        (
            loses(&before.block_conversations, &after.block_conversations),
            "blockConversations is shorter".to_owned(),
        ),
        (opens(&before.allow_actors, &after.allow_actors), "allowActors lets more in".to_owned()),
        (
            opens(&before.allow_conversations, &after.allow_conversations),
            "allowConversations lets more in".to_owned(),
        ),
        (loses(&after.allow_bots, &before.allow_bots), "allowBots lets more in".to_owned()),
    ];
    facts.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| format!("widens access: {what}")).collect()
}
