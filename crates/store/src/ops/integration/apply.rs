//! One change after the other, through the operations that people use too.

use std::collections::BTreeMap;

use loom_domain::integration::{Action, Change, FieldChange, Kind};
use loom_domain::{
    Address, AddressId, Agent, Code, Connection, ConnectionId, Error, Membership, MembershipId, Result,
    Timestamp, reason::ItemReason,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Apply;
use crate::Unit;
use crate::docs;
use crate::ops::change::{self, Edit, Versioned};
use crate::ops::{addresses, connections, memberships};

const ACTION: &str = "integration.apply";

/// Makes and changes objects in the order in which they name each other, then ends others the other way round.
pub(super) fn changes(unit: &mut Unit<'_>, apply: &Apply) -> Result<()> {
    let mut names = BTreeMap::new();
    let of = |action: Action| apply.plan.changes.iter().filter(move |change| change.action == action);
    for kind in Kind::ALL {
        for change in apply.plan.changes.iter().filter(|change| change.kind == *kind) {
            let done = match change.action {
                Action::Create => create(unit, apply, change, &mut names),
                Action::Update => update(unit, apply, change, &change.id, &change.fields),
                Action::Archive => Ok(()),
            };
            done.map_err(|error| told(error, change))?;
        }
    }
    for kind in Kind::ALL.iter().rev() {
        for change in of(Action::Archive).filter(|change| change.kind == *kind) {
            archive(unit, change).map_err(|error| told(error, change))?;
        }
    }
    Ok(())
}

fn told(error: Error, change: &Change) -> Error {
    error.with_detail("object", change.object())
}

/// Makes an object, or brings an archived one of the same id back.
fn create(
    unit: &mut Unit<'_>,
    apply: &Apply,
    change: &Change,
    names: &mut BTreeMap<String, String>,
) -> Result<()> {
    if restore(unit, change)? {
        let fixed = [
            "agent",
            "connection",
            "address",
            "conversationId",
            "conversationType",
            "externalIdentity",
            "provider",
        ];
        let fields: Vec<FieldChange> =
            change.fields.iter().filter(|field| !fixed.contains(&field.field.as_str())).cloned().collect();
        return update(unit, apply, change, &change.id, &fields);
    }
    let mut members = Map::new();
    for field in change.fields.iter().filter(|field| !field.to.is_null()) {
        members.insert(field.field.clone(), field.to.clone());
    }
    for reference in ["connection", "address"] {
        let known = members.get(reference).and_then(Value::as_str).and_then(|name| names.get(name)).cloned();
        if let Some(id) = known {
            members.insert(reference.to_owned(), json!(id));
        }
    }
    let mut take = |name: &str| members.remove(name).and_then(|value| value.as_str().map(str::to_owned));
    let missing = |name: &str| Error::new(Code::MissingField, format!("{name}: a new object needs it"));
    let id = match change.kind {
        Kind::Connections => {
            let enabled = members.remove("enabled");
            let made = connections::connect(unit, &request(members)?, &apply.installed)?.object;
            // A new object is off unless its file says otherwise.
            if enabled != Some(Value::Bool(true)) {
                connections::switch(unit, &made.id, false)?;
            }
            made.id.to_string()
        }
        Kind::Addresses => {
            let agent = take("agent").ok_or_else(|| missing("agent"))?;
            let connection = take("connection").ok_or_else(|| missing("connection"))?;
            members.insert("connectionId".to_owned(), json!(connection));
            addresses::bind(unit, &agent, &request(members)?, &apply.groups)?.object.id.to_string()
        }
        Kind::Memberships => {
            let address: AddressId = take("address").ok_or_else(|| missing("address"))?.parse()?;
            let conversation = take("conversationId").ok_or_else(|| missing("conversationId"))?;
            members.insert("expectedVersion".to_owned(), json!(0));
            memberships::set_conversation(unit, &address, &conversation, &request(members)?)?
                .object
                .id
                .to_string()
        }
    };
    names.insert(change.id.clone(), id);
    Ok(())
}

fn update(
    unit: &mut Unit<'_>,
    apply: &Apply,
    change: &Change,
    id: &str,
    fields: &[FieldChange],
) -> Result<()> {
    let mut members = Map::new();
    let mut emptied = Vec::new();
    for field in fields {
        if field.to.is_null() {
            emptied.push(field.field.as_str());
        } else {
            members.insert(field.field.clone(), field.to.clone());
        }
    }
    let fixed = |name: &str| {
        Error::new(Code::ImmutableField, format!("{name} cannot change"))
            .with_hint("archive the object and create the right one")
    };
    match change.kind {
        Kind::Connections => {
            let id: ConnectionId = id.parse()?;
            if members.contains_key("provider") {
                return Err(fixed("provider"));
            }
            if let Some(enabled) = members.remove("enabled") {
                connections::switch(unit, &id, enabled == Value::Bool(true))?;
            }
            if members.is_empty() && emptied.is_empty() {
                return Ok(());
            }
            members.insert("clear".to_owned(), json!(emptied));
            connections::update(unit, &id, &request(members)?).map(drop)
        }
        Kind::Addresses => {
            let id: AddressId = id.parse()?;
            if let Some(name) =
                ["agent", "connection", "externalIdentity"].iter().find(|name| members.contains_key(**name))
            {
                return Err(fixed(name));
            }
            if members.is_empty() && emptied.is_empty() {
                return Ok(());
            }
            members.insert("clear".to_owned(), json!(emptied));
            members.insert("confirmTrust".to_owned(), json!(true));
            addresses::update(unit, &id, &request(members)?, &apply.groups).map(drop)
        }
        Kind::Memberships => membership(unit, &id.parse()?, members, &emptied),
    }
}

fn membership(
    unit: &mut Unit<'_>,
    id: &MembershipId,
    mut members: Map<String, Value>,
    emptied: &[&str],
) -> Result<()> {
    let found: Membership = docs::require_locked(unit.tx, id.as_str())?;
    // A Membership without a policy of its own follows its Address.
    let follows = Membership {
        trigger_policy: found.trigger_policy.filter(|_| !emptied.contains(&"triggerPolicy")),
        reply_policy: found.reply_policy.filter(|_| !emptied.contains(&"replyPolicy")),
        ..found.clone()
    };
    let address: Address = docs::require(unit.tx, found.address_id.as_str())?;
    save(unit, &found, follows, "membership.changed", address.agent_id.as_str())?;
    let clear: Vec<&&str> =
        emptied.iter().filter(|name| !matches!(**name, "triggerPolicy" | "replyPolicy")).collect();
    if members.is_empty() && clear.is_empty() {
        return Ok(());
    }
    members.insert("clear".to_owned(), json!(clear));
    memberships::set_conversation(unit, &found.address_id, &found.conversation_id, &request(members)?)
        .map(drop)
}

fn request<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(members)).map_err(|cause| {
        Error::new(Code::InvalidInput, format!("a field does not have the form it needs: {cause}"))
    })
}

fn save<D: Versioned>(
    unit: &mut Unit<'_>,
    before: &D,
    mut after: D,
    event: &'static str,
    agent: &str,
) -> Result<()> {
    let agent = Some(agent).filter(|agent| !agent.is_empty());
    let edit = Edit { event, action: ACTION, agent, expected: None, notes: &[] };
    change::commit(unit, before, &mut after, &edit).map(drop)
}

/// Brings an archived object back, switched off; false when there is none of this id.
fn restore(unit: &mut Unit<'_>, change: &Change) -> Result<bool> {
    match change.kind {
        Kind::Connections => {
            let Some(found) = docs::get::<Connection>(unit.tx, &change.id)? else { return Ok(false) };
            is_archived(&found.id, found.superseded_by.as_ref(), None, found.archived_at)?;
            let after = Connection { archived_at: None, enabled: false, ..found.clone() };
            save(unit, &found, after, "connection.changed", "")?;
        }
        Kind::Addresses => {
            let Some(found) = docs::get::<Address>(unit.tx, &change.id)? else { return Ok(false) };
            is_archived(&found.id, found.superseded_by.as_ref(), found.deleted_at, found.archived_at)?;
            let agent: Agent = docs::require(unit.tx, found.agent_id.as_str())?;
            if agent.archived_at.is_some() {
                return Err(Error::new(Code::Archived, format!("the agent {} is archived", agent.name)));
            }
            let after = Address { archived_at: None, enabled: false, ..found.clone() };
            save(unit, &found, after, "address.changed", found.agent_id.as_str())?;
        }
        Kind::Memberships => {
            let Some(found) = docs::get::<Membership>(unit.tx, &change.id)? else { return Ok(false) };
            is_archived(&found.id, found.superseded_by.as_ref(), None, found.archived_at)?;
            let after = Membership { archived_at: None, enabled: false, ..found.clone() };
            let address: Address = docs::require(unit.tx, found.address_id.as_str())?;
            save(unit, &found, after, "membership.changed", address.agent_id.as_str())?;
        }
    }
    Ok(true)
}

/// Only what was archived comes back: not what was replaced or deleted, and not what never went.
fn is_archived<I: std::fmt::Display>(
    id: &I,
    superseded_by: Option<&I>,
    deleted_at: Option<Timestamp>,
    archived_at: Option<Timestamp>,
) -> Result<()> {
    match (superseded_by, deleted_at, archived_at) {
        (Some(canonical), ..) => {
            Err(Error::new(Code::Superseded, format!("{id} was superseded by {canonical}"))
                .with_detail("id", canonical.to_string()))
        }
        (None, Some(_), _) => Err(Error::new(Code::Deleted, format!("{id} is deleted"))),
        (None, None, None) => Err(Error::new(Code::AlreadyExists, format!("{id} is there already"))),
        (None, None, Some(_)) => Ok(()),
    }
}

fn archive(unit: &mut Unit<'_>, change: &Change) -> Result<()> {
    match change.kind {
        Kind::Memberships => {
            let found: Membership = docs::require_locked(unit.tx, &change.id)?;
            let address: Address = docs::require(unit.tx, found.address_id.as_str())?;
            let after = Membership { enabled: false, archived_at: Some(unit.now), ..found.clone() };
            save(unit, &found, after, "membership.changed", address.agent_id.as_str())
        }
        Kind::Addresses => {
            let found: Address = docs::require_locked(unit.tx, &change.id)?;
            let work = addresses::live_work(unit.tx, &found.id)?;
            if !work.is_empty() {
                return Err(Error::new(Code::LifecycleBlocked, format!("{} has live work", found.id))
                    .with_detail("blockers", work));
            }
            addresses::archive(unit, &found, ItemReason::AddressArchived).map(drop)
        }
        Kind::Connections => {
            let found: Connection = docs::require_locked(unit.tx, &change.id)?;
            let sql =
                "SELECT COUNT(*) FROM addresses WHERE connection_id = ?1 AND archived = 0 AND deleted = 0";
            if unit.tx.number(sql, &crate::params![change.id.as_str()])? > 0 {
                return Err(Error::new(Code::LifecycleBlocked, format!("{} still has addresses", found.id)));
            }
            let after = Connection { enabled: false, archived_at: Some(unit.now), ..found.clone() };
            save(unit, &found, after, "connection.changed", "")
        }
    }
}
