//! Addresses: bind, change, switch; and what archiving one does to its work.

mod policy;
mod read;

pub(crate) use policy::check_trigger;

use loom_api::{
    Mutation,
    request::{Bind, UpdateAddress},
};
use loom_domain::{
    Address, AddressId, Agent, AttachmentPolicy, Code, Connection, DmPolicy, Error, Membership, RefusalBody,
    ReplyPolicy, Result, TriggerPolicy, inbox::Event as ItemEvent, reason::ItemReason, trust,
    validate::canonical_identity,
};
use serde_json::{Value as Json, json};

use super::{
    change::{self, Edit},
    connections::{self, waiting_words},
    items, lookup,
};
use crate::{Act, Store, Tx, Unit, docs, params, records::StoredItem};

const CLEARABLE: &[&str] =
    &["allowActors", "allowConversations", "blockActors", "blockConversations", "allowBots"];
/// Domain of an Agent's first Address when none is given.
const DOMAIN_DEFAULT: &str = "local";
const LIVE_STATES: &str = "('queued', 'handling', 'deferred', 'awaiting_delivery')";

impl Store {
    /// Binds an external identity to an Agent. `groups` are the configured sets of compatible trust domains.
    pub async fn bind(
        &self,
        act: Act,
        agent: String,
        request: Bind,
        groups: Vec<Vec<String>>,
        dry_run: bool,
    ) -> Result<Mutation<Address>> {
        self.mutate(act, dry_run, move |unit| bind(unit, &agent, &request, &groups)).await
    }

    /// Changes an Address; only the named fields are written. Warnings tell what widens access.
    pub async fn update_address(
        &self,
        act: Act,
        id: AddressId,
        request: UpdateAddress,
        groups: Vec<Vec<String>>,
        dry_run: bool,
    ) -> Result<Mutation<Address>> {
        self.mutate(act, dry_run, move |unit| update(unit, &id, &request, &groups)).await
    }

    /// Switches an Address on or off. The warnings tell what waits now.
    pub async fn set_address_enabled(
        &self,
        act: Act,
        id: AddressId,
        enabled: bool,
        expected: Option<u64>,
        dry_run: bool,
    ) -> Result<Mutation<Address>> {
        self.mutate(act, dry_run, move |unit| {
            let before = live(unit, &id)?;
            let after = Address { enabled, ..before.clone() };
            let action = if enabled { "address.enable" } else { "address.disable" };
            let mut answer = save(unit, &before, after, action, expected)?;
            if !enabled {
                answer.warnings.extend(waiting(unit.tx, &id)?);
            }
            Ok(answer)
        })
        .await
    }
}

/// Refuses records that are read-only for good.
pub(crate) fn check_live(address: &Address) -> Result<()> {
    let id = &address.id;
    if let Some(canonical) = &address.superseded_by {
        return Err(Error::new(Code::Superseded, format!("{id} was superseded by {canonical}"))
            .with_detail("id", canonical.as_str()));
    }
    if address.deleted_at.is_some() {
        return Err(Error::new(Code::Deleted, format!("{id} is deleted")));
    }
    if address.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("{id} is archived")));
    }
    Ok(())
}

fn live(unit: &mut Unit<'_>, id: &AddressId) -> Result<Address> {
    let address: Address = docs::require_locked(unit.tx, id.as_str())?;
    check_live(&address)?;
    Ok(address)
}

fn edit<'a>(action: &'static str, agent: &'a str, expected: Option<u64>, notes: &'a [String]) -> Edit<'a> {
    Edit { event: "address.changed", action, agent: Some(agent), expected, notes }
}

fn save(
    unit: &mut Unit<'_>,
    before: &Address,
    mut after: Address,
    action: &'static str,
    expected: Option<u64>,
) -> Result<Mutation<Address>> {
    let warnings = policy::widening(before, &after);
    let agent = before.agent_id.to_string();
    let changed = change::commit(unit, before, &mut after, &edit(action, &agent, expected, &warnings))?;
    unit.wake(crate::Topic::Inbox);
    unit.wake(crate::Topic::Outbox);
    Ok(change::changed(after, changed, warnings))
}

/// Binds an identity.
pub(crate) fn bind(
    unit: &mut Unit<'_>,
    agent: &str,
    request: &Bind,
    groups: &[Vec<String>],
) -> Result<Mutation<Address>> {
    let agent: Agent = lookup::agent(unit.tx, agent)?;
    if agent.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("the agent {} is archived", agent.name)));
    }
    let connection: Connection = docs::require(unit.tx, &lookup::text_id("con_", &request.connection_id)?)?;
    connections::check_live(&connection)?;
    let identity = canonical_identity(&connection, &request.external_identity)?;
    check_free(unit, &connection, &identity)?;
    let mut address = Address {
        id: AddressId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        agent_id: agent.id.clone(),
        connection_id: connection.id.clone(),
        display_name: identity.clone(),
        external_identity: identity,
        trigger_policy: TriggerPolicy::Mention,
        reply_policy: ReplyPolicy::FinalAnswer,
        dm_policy: DmPolicy::Managed,
        trust_domain: present_domain(unit.tx, &agent)?,
        allow_actors: Vec::new(),
        allow_conversations: Vec::new(),
        block_actors: Vec::new(),
        block_conversations: Vec::new(),
        allow_bots: Vec::new(),
        attachment_policy: AttachmentPolicy::Safe,
        refusal_body: RefusalBody::Drop,
        enabled: false,
        superseded_by: None,
        archived_at: None,
        deleted_at: None,
        created_at: unit.now,
        updated_at: unit.now,
    };
    policy::apply(&mut address, &request.policy, &connection)?;
    check_trust(unit.tx, &address, groups)?;
    change::create(unit, &address, &edit("address.create", agent.id.as_str(), None, &[]))?;
    Ok(Mutation::created(address))
}

fn check_free(unit: &mut Unit<'_>, connection: &Connection, identity: &str) -> Result<()> {
    let bound: Option<Address> = docs::find(
        unit.tx,
        "connection_id = ?1 AND identity = ?2 AND deleted = 0",
        &params![connection.id.as_str(), identity],
    )?;
    match bound {
        None => Ok(()),
        Some(other) => {
            Err(Error::new(Code::IdentityBound, format!("{identity} is bound already as {}", other.id))
                .with_detail("id", other.id.as_str()))
        }
    }
}

fn siblings(tx: &mut dyn Tx, agent: &str) -> Result<Vec<Address>> {
    docs::select(tx, "agent_id = ?1 AND deleted = 0 ORDER BY archived, seq", &params![agent])
}

fn present_domain(tx: &mut dyn Tx, agent: &Agent) -> Result<String> {
    let first = siblings(tx, agent.id.as_str())?.into_iter().next();
    Ok(first.map_or_else(|| DOMAIN_DEFAULT.to_owned(), |address| address.trust_domain))
}

fn check_trust(tx: &mut dyn Tx, address: &Address, groups: &[Vec<String>]) -> Result<()> {
    trust::check_label(&address.trust_domain)?;
    let others = siblings(tx, address.agent_id.as_str())?;
    let domains =
        others.iter().filter(|other| other.id != address.id).map(|other| other.trust_domain.as_str());
    trust::check_compatible(domains.chain([address.trust_domain.as_str()]), groups)
}

/// Changes the named fields of an Address.
pub(crate) fn update(
    unit: &mut Unit<'_>,
    id: &AddressId,
    request: &UpdateAddress,
    groups: &[Vec<String>],
) -> Result<Mutation<Address>> {
    let bare = UpdateAddress { expected_version: None, confirm_trust: false, ..request.clone() };
    if bare == UpdateAddress::default() {
        return Err(change::nothing());
    }
    change::check_clear(&request.clear, CLEARABLE)?;
    let before = live(unit, id)?;
    let connection: Connection = docs::require(unit.tx, before.connection_id.as_str())?;
    let mut after = before.clone();
    policy::clear(&mut after, &request.clear);
    policy::apply(&mut after, &request.policy, &connection)?;
    let moves = after.trust_domain != before.trust_domain;
    if moves {
        check_trust(unit.tx, &after, groups)?;
    }
    let answer = save(unit, &before, after, "address.update", request.expected_version)?;
    if moves && !request.confirm_trust {
        return Err(Error::new(
            Code::ConfirmationRequired,
            format!("{id} would move to another trust domain"),
        )
        .with_hint("repeat with --confirm-trust"));
    }
    if moves {
        move_memberships(unit, &answer.object)?;
    }
    Ok(answer)
}

/// Memberships follow their Address into its trust domain.
fn move_memberships(unit: &mut Unit<'_>, address: &Address) -> Result<()> {
    let memberships: Vec<Membership> = docs::select(
        unit.tx,
        "address_id = ?1 AND archived = 0 ORDER BY seq",
        &params![address.id.as_str()],
    )?;
    let agent = address.agent_id.to_string();
    for before in memberships {
        let mut after = Membership { trust_domain: address.trust_domain.clone(), ..before.clone() };
        let edit = Edit {
            event: "membership.changed",
            action: "membership.trust_domain",
            agent: Some(&agent),
            expected: None,
            notes: &[],
        };
        change::commit(unit, &before, &mut after, &edit)?;
    }
    Ok(())
}

/// What waits while an Address is off.
fn waiting(tx: &mut dyn Tx, id: &AddressId) -> Result<Vec<String>> {
    let parts = "SELECT COUNT(*) FROM parts WHERE open = 1 AND outbox_id IN (SELECT id FROM outbox WHERE address_id = ?1 AND open = 1)";
    let items = "SELECT COUNT(*) FROM inbox WHERE address_id = ?1 AND open = 1 AND state = 'queued'";
    let (parts, items) = (tx.number(parts, &params![id.as_str()])?, tx.number(items, &params![id.as_str()])?);
    Ok(waiting_words(parts, items, "address_disabled"))
}

/// Live work of an Address, each with the command that clears it.
pub(crate) fn live_work(tx: &mut dyn Tx, id: &AddressId) -> Result<Vec<Json>> {
    let items = format!(
        "SELECT id, state FROM inbox WHERE address_id = ?1 AND open = 1 AND state IN {LIVE_STATES} ORDER BY seq LIMIT 100"
    );
    let sends = "SELECT id, state FROM outbox WHERE address_id = ?1 AND open = 1 ORDER BY seq LIMIT 100";
    let mut work = Vec::new();
    for row in tx.query(&items, &params![id.as_str()])? {
        let command = format!("loom inbox cancel {}", row.text(0));
        work.push(json!({"kind": "inbox", "id": row.text(0), "state": row.text(1), "command": command}));
    }
    for row in tx.query(sends, &params![id.as_str()])? {
        let verb = if row.text(1) == "unknown" { "settle" } else { "cancel" };
        let command = format!("loom outbox {verb} {}", row.text(0));
        work.push(json!({"kind": "outbox", "id": row.text(0), "state": row.text(1), "command": command}));
    }
    Ok(work)
}

/// Archives an Address without live work: its other open items are closed in the same commit.
pub(crate) fn archive(unit: &mut Unit<'_>, address: &Address, reason: ItemReason) -> Result<Address> {
    let open: Vec<StoredItem> =
        docs::select(unit.tx, "address_id = ?1 AND open = 1 ORDER BY seq", &params![address.id.as_str()])?;
    for mut stored in open {
        items::step(unit, &mut stored, &ItemEvent::Close(reason))?;
    }
    let mut after = Address { enabled: false, archived_at: Some(unit.now), ..address.clone() };
    let agent = address.agent_id.to_string();
    change::commit(unit, address, &mut after, &edit("address.archive", &agent, None, &[]))?;
    Ok(after)
}
