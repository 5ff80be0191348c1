//! Agents: create, change, pause, archive.

mod read;

use loom_api::{
    Mutation,
    request::{ArchiveAgent, CreateAgent, UpdateAgent},
};
use loom_domain::{
    Address, Agent, AgentId, Code, Error, Result, RuntimeSettings,
    agent::{IDLE_SECONDS, MAX_TURN_SECONDS, OnInterrupted, OnOversize},
    inbox::Event as ItemEvent,
    reason::ItemReason,
    validate::check_agent,
};
use serde_json::{Value as Json, json};

use super::{
    addresses,
    change::{self, Edit},
    items, lookup,
};
use crate::{Act, Store, Unit, docs, params, records::StoredItem};

const CLEARABLE: &[&str] = &["cwd", "model", "effort", "sandbox", "approval", "profile"];
const RUNNING_FIELDS: &str = "cwd and model take effect at the next Turn";

fn edit<'a>(action: &'static str, agent: &'a str, expected: Option<u64>) -> Edit<'a> {
    Edit { event: "config.changed", action, agent: Some(agent), expected, notes: &[] }
}

impl Store {
    /// Creates an Agent. A taken name is `already_exists`, naming the Agent that has it.
    pub async fn create_agent(
        &self,
        act: Act,
        request: CreateAgent,
        dry_run: bool,
    ) -> Result<Mutation<Agent>> {
        self.mutate(act, dry_run, move |unit| create(unit, &request)).await
    }

    /// Changes an Agent; only the named fields are written.
    pub async fn update_agent(
        &self,
        act: Act,
        agent: String,
        request: UpdateAgent,
        dry_run: bool,
    ) -> Result<Mutation<Agent>> {
        self.mutate(act, dry_run, move |unit| update(unit, &agent, &request)).await
    }

    /// Pauses an Agent (items queue, no Turn starts) or lets it go on.
    pub async fn set_agent_paused(
        &self,
        act: Act,
        agent: String,
        paused: bool,
        expected: Option<u64>,
        dry_run: bool,
    ) -> Result<Mutation<Agent>> {
        self.mutate(act, dry_run, move |unit| pause(unit, &agent, paused, expected)).await
    }

    /// Archives an Agent. Its Addresses block that, unless they are archived in the same commit.
    pub async fn archive_agent(
        &self,
        act: Act,
        agent: String,
        request: ArchiveAgent,
        dry_run: bool,
    ) -> Result<Mutation<Agent>> {
        self.mutate(act, dry_run, move |unit| archive(unit, &agent, &request, dry_run)).await
    }

    /// Brings an archived Agent back.
    pub async fn restore_agent(
        &self,
        act: Act,
        agent: String,
        expected: Option<u64>,
        dry_run: bool,
    ) -> Result<Mutation<Agent>> {
        self.mutate(act, dry_run, move |unit| {
            let before = locked(unit, &agent)?;
            let mut after = Agent { archived_at: None, ..before.clone() };
            let changed = change::commit(
                unit,
                &before,
                &mut after,
                &edit("agent.restore", before.id.as_str(), expected),
            )?;
            Ok(change::changed(after, changed, Vec::new()))
        })
        .await
    }
}

fn locked(unit: &mut Unit<'_>, agent: &str) -> Result<Agent> {
    let found = lookup::agent(unit.tx, agent)?;
    docs::require_locked(unit.tx, found.id.as_str())
}

fn check_name_free(unit: &mut Unit<'_>, name: &str, own: Option<&AgentId>) -> Result<()> {
    let taken: Option<Agent> = docs::find(unit.tx, "name_key = ?1", &params![name.to_ascii_lowercase()])?;
    match taken {
        Some(other) if own != Some(&other.id) => {
            Err(Error::new(Code::AlreadyExists, format!("the name `{name}` belongs to {}", other.id))
                .with_detail("id", other.id.as_str()))
        }
        _ => Ok(()),
    }
}

fn create(unit: &mut Unit<'_>, request: &CreateAgent) -> Result<Mutation<Agent>> {
    let agent = Agent {
        id: AgentId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        name: request.name.clone(),
        runtime: RuntimeSettings {
            kind: request.runtime,
            model: request.model.clone(),
            effort: request.effort.clone(),
            sandbox: request.sandbox.clone(),
            approval: request.approval.clone(),
            endpoint: request.endpoint.clone(),
            command: request.command.clone(),
        },
        cwd: request.cwd.clone(),
        profile: request.profile.clone().unwrap_or_default(),
        paused: false,
        thread_ref: None,
        thread_generation: 1,
        thread_labels: Vec::new(),
        max_turn_seconds: MAX_TURN_SECONDS,
        idle_seconds: IDLE_SECONDS,
        on_interrupted: OnInterrupted::Ask,
        on_oversize: OnOversize::File,
        created_at: unit.now,
        updated_at: unit.now,
        archived_at: None,
    };
    check_agent(&agent)?;
    check_name_free(unit, &agent.name, None)?;
    change::create(unit, &agent, &edit("agent.create", agent.id.as_str(), None))?;
    Ok(Mutation::created(agent))
}

fn update(unit: &mut Unit<'_>, agent: &str, request: &UpdateAgent) -> Result<Mutation<Agent>> {
    if (UpdateAgent { expected_version: None, ..request.clone() }) == UpdateAgent::default() {
        return Err(change::nothing());
    }
    change::check_clear(&request.clear, CLEARABLE)?;
    let before = locked(unit, agent)?;
    if before.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("the agent {} is archived", before.name)));
    }
    let mut after = before.clone();
    apply(&mut after, request);
    check_agent(&after)?;
    check_name_free(unit, &after.name, Some(&before.id))?;
    let edit = edit("agent.update", before.id.as_str(), request.expected_version);
    let changed = change::commit(unit, &before, &mut after, &edit)?;
    let running = "SELECT 1 FROM turns WHERE agent_id = ?1 AND open = 1";
    let waits = changed.iter().any(|field| field == "cwd" || field == "model")
        && unit.tx.first(running, &params![before.id.as_str()])?.is_some();
    let warnings = if waits { vec![RUNNING_FIELDS.to_owned()] } else { Vec::new() };
    Ok(change::changed(after, changed, warnings))
}

fn apply(agent: &mut Agent, request: &UpdateAgent) {
    for name in &request.clear {
        match name.as_str() {
            "cwd" => agent.cwd = None,
            "model" => agent.runtime.model = None,
            "effort" => agent.runtime.effort = None,
            "sandbox" => agent.runtime.sandbox = None,
            "approval" => agent.runtime.approval = None,
            _ => agent.profile.clear(),
        }
    }
    let texts = [
        (&mut agent.cwd, &request.cwd),
        (&mut agent.runtime.model, &request.model),
        (&mut agent.runtime.effort, &request.effort),
        (&mut agent.runtime.sandbox, &request.sandbox),
        (&mut agent.runtime.approval, &request.approval),
    ];
    for (field, value) in texts {
        if value.is_some() {
            field.clone_from(value);
        }
    }
    if let Some(name) = &request.name {
        agent.name.clone_from(name);
    }
    agent.on_interrupted = request.on_interrupted.unwrap_or(agent.on_interrupted);
    agent.on_oversize = request.on_oversize.unwrap_or(agent.on_oversize);
    agent.max_turn_seconds = request.max_turn_seconds.unwrap_or(agent.max_turn_seconds);
    if request.new_thread {
        agent.thread_ref = None;
        agent.thread_labels.clear();
        agent.thread_generation += 1;
    }
}

fn pause(unit: &mut Unit<'_>, agent: &str, paused: bool, expected: Option<u64>) -> Result<Mutation<Agent>> {
    let before = locked(unit, agent)?;
    if before.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("the agent {} is archived", before.name)));
    }
    let mut after = Agent { paused, ..before.clone() };
    let action = if paused { "agent.pause" } else { "agent.resume" };
    let changed = change::commit(unit, &before, &mut after, &edit(action, before.id.as_str(), expected))?;
    let queued = "SELECT COUNT(*) FROM inbox WHERE agent_id = ?1 AND state = 'queued' AND open = 1";
    let waiting = unit.tx.number(queued, &params![before.id.as_str()])?;
    let warnings = if paused && waiting > 0 {
        vec![format!("{waiting} inbox items wait: agent_paused")]
    } else {
        Vec::new()
    };
    unit.wake(crate::Topic::Inbox);
    Ok(change::changed(after, changed, warnings))
}

fn archive(
    unit: &mut Unit<'_>,
    agent: &str,
    request: &ArchiveAgent,
    dry_run: bool,
) -> Result<Mutation<Agent>> {
    let before = locked(unit, agent)?;
    let live: Vec<Address> = docs::select(
        unit.tx,
        "agent_id = ?1 AND archived = 0 AND deleted = 0 ORDER BY seq",
        &params![before.id.as_str()],
    )?;
    let blockers = blockers(unit, &before, &live, request.with_addresses)?;
    if !blockers.is_empty() {
        return Err(Error::new(Code::LifecycleBlocked, format!("{} cannot be archived yet", before.name))
            .with_detail("blockers", blockers));
    }
    if !dry_run && before.archived_at.is_none() && request.confirm.as_deref() != Some(before.name.as_str()) {
        return Err(Error::new(
            Code::ConfirmationRequired,
            format!("confirm with the name `{}`", before.name),
        )
        .with_hint(format!("repeat with --confirm {}", before.name))
        .with_detail(
            "plan",
            json!({"target": before.id, "addresses": live.iter().map(|a| a.id.as_str()).collect::<Vec<_>>()}),
        ));
    }
    let mut warnings = Vec::new();
    for address in live {
        warnings.push(format!("archives {} {}", address.id, address.external_identity));
        addresses::archive(unit, &address, ItemReason::AddressArchived)?;
    }
    let closed = close_items(unit, &before)?;
    if closed > 0 {
        warnings.push(format!("closes {closed} inbox items"));
    }
    let mut after = Agent { archived_at: before.archived_at.or(Some(unit.now)), ..before.clone() };
    let edit = edit("agent.archive", before.id.as_str(), request.expected_version);
    let changed = change::commit(unit, &before, &mut after, &edit)?;
    Ok(change::changed(after, changed, warnings))
}

fn blockers(unit: &mut Unit<'_>, agent: &Agent, live: &[Address], with_addresses: bool) -> Result<Vec<Json>> {
    let mut blockers = Vec::new();
    for address in live {
        if with_addresses {
            blockers.extend(addresses::live_work(unit.tx, &address.id)?);
        } else {
            let command =
                format!("loom agent archive {} --with-addresses --confirm {}", agent.name, agent.name);
            let state = if address.enabled { "enabled" } else { "disabled" };
            blockers.push(json!({"kind": "address", "id": address.id, "state": state, "command": command}));
        }
    }
    let running = unit
        .tx
        .first("SELECT id FROM turns WHERE agent_id = ?1 AND open = 1", &params![agent.id.as_str()])?;
    if let Some(row) = running {
        blockers.push(json!({"kind": "turn", "id": row.text(0), "state": "running", "command": format!("loom agent pause {}", agent.name)}));
    }
    Ok(blockers)
}

fn close_items(unit: &mut Unit<'_>, agent: &Agent) -> Result<usize> {
    let open: Vec<StoredItem> =
        docs::select(unit.tx, "agent_id = ?1 AND open = 1 ORDER BY seq", &params![agent.id.as_str()])?;
    let count = open.len();
    for mut stored in open {
        items::step(unit, &mut stored, &ItemEvent::Close(ItemReason::AgentArchived))?;
    }
    Ok(count)
}
