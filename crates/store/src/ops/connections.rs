//! Connections: register, change, switch; what the hub reads of them.

mod check;
mod read;

pub(crate) use check::check_live;

use loom_api::{
    Mutation,
    request::{Connect, UpdateConnection},
};
use loom_domain::{
    Code, Connection, ConnectionId, Error, Result,
    connection::{GatewayMode, default_capabilities},
    validate::canonical_provider,
};

use super::change::{self, Edit};
use crate::{Act, Store, Unit, docs, params};

const CLEARABLE: &[&str] = &["scopeRef", "brand", "apiUrl", "proxyUrl", "capabilities"];

fn edit(action: &'static str, expected: Option<u64>) -> Edit<'static> {
    Edit { event: "connection.changed", action, agent: None, expected, notes: &[] }
}

impl Store {
    /// Registers a Connection and nothing else. `installed` names the connectors that are installed.
    pub async fn connect(
        &self,
        act: Act,
        request: Connect,
        installed: Vec<String>,
        dry_run: bool,
    ) -> Result<Mutation<Connection>> {
        self.mutate(act, dry_run, move |unit| connect(unit, &request, &installed)).await
    }

    /// Changes a Connection; only the named fields are written.
    pub async fn update_connection(
        &self,
        act: Act,
        id: ConnectionId,
        request: UpdateConnection,
        dry_run: bool,
    ) -> Result<Mutation<Connection>> {
        self.mutate(act, dry_run, move |unit| update(unit, &id, &request)).await
    }

    /// Switches a Connection on or off. The warnings tell what waits now.
    pub async fn set_connection_enabled(
        &self,
        act: Act,
        id: ConnectionId,
        enabled: bool,
        expected: Option<u64>,
        dry_run: bool,
    ) -> Result<Mutation<Connection>> {
        self.mutate(act, dry_run, move |unit| {
            let before = live(unit, &id)?;
            let mut after = Connection { enabled, ..before.clone() };
            let action = if enabled { "connection.enable" } else { "connection.disable" };
            let changed = change::commit(unit, &before, &mut after, &edit(action, expected))?;
            let warnings = if enabled { Vec::new() } else { waiting(unit, &id)? };
            unit.wake(crate::Topic::Inbox);
            unit.wake(crate::Topic::Outbox);
            Ok(change::changed(after, changed, warnings))
        })
        .await
    }

    /// Records that a gateway connected: the first time counts, older events are stale. No version changes.
    pub async fn connection_identified(&self, act: Act, id: ConnectionId) -> Result<Connection> {
        self.write(act, move |unit| {
            let mut connection: Connection = docs::require_locked(unit.tx, id.as_str())?;
            if connection.first_connected_at.is_none() {
                connection.first_connected_at = Some(unit.now);
                docs::update(unit.tx, &connection)?;
            }
            Ok(connection)
        })
        .await
    }
}

/// Switches a Connection, where it is not so already.
pub(crate) fn switch(unit: &mut Unit<'_>, id: &ConnectionId, enabled: bool) -> Result<()> {
    let before = live(unit, id)?;
    let mut after = Connection { enabled, ..before.clone() };
    let action = if enabled { "connection.enable" } else { "connection.disable" };
    change::commit(unit, &before, &mut after, &edit(action, None))?;
    unit.wake(crate::Topic::Inbox);
    unit.wake(crate::Topic::Outbox);
    Ok(())
}

/// A Connection that may be changed.
fn live(unit: &mut Unit<'_>, id: &ConnectionId) -> Result<Connection> {
    let connection: Connection = docs::require_locked(unit.tx, id.as_str())?;
    check_live(&connection)?;
    Ok(connection)
}

/// Registers a Connection.
pub(crate) fn connect(
    unit: &mut Unit<'_>,
    request: &Connect,
    installed: &[String],
) -> Result<Mutation<Connection>> {
    let (provider, alias_brand) = canonical_provider(&request.provider, installed)?;
    let brand = match (&request.brand, alias_brand) {
        (Some(brand), _) => Some(brand.clone()),
        (None, Some(brand)) => Some(brand.to_owned()),
        (None, None) => (provider == "feishu").then(|| "feishu".to_owned()),
    };
    let connection = Connection {
        id: ConnectionId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        account_ref: request.account_ref.clone(),
        scope_ref: request.scope_ref.clone().filter(|scope| !scope.is_empty()),
        brand,
        credential_ref: request.credential_ref.clone(),
        api_url: request.api_url.clone(),
        proxy_url: request.proxy_url.clone(),
        allow_http: request.allow_http,
        gateway_mode: request.gateway_mode.unwrap_or(GatewayMode::External),
        capabilities: request.capabilities.clone().unwrap_or_else(|| default_capabilities(&provider)),
        enabled: true,
        superseded_by: None,
        archived_at: None,
        first_connected_at: None,
        created_at: unit.now,
        updated_at: unit.now,
        provider,
    };
    check::settings(&connection)?;
    check_free(unit, &connection)?;
    change::create(unit, &connection, &edit("connection.create", None))?;
    Ok(Mutation::created(connection))
}

fn check_free(unit: &mut Unit<'_>, connection: &Connection) -> Result<()> {
    let same: Option<Connection> = docs::find(
        unit.tx,
        "provider = ?1 AND account_ref = ?2 AND scope_ref = ?3 AND archived = 0 AND id <> ?4",
        &params![
            connection.provider.as_str(),
            connection.account_ref.as_str(),
            connection.scope_ref.as_deref().unwrap_or(""),
            connection.id.as_str()
        ],
    )?;
    match same {
        None => Ok(()),
        Some(other) => {
            Err(Error::new(Code::AlreadyExists, format!("{} is the connection of this account", other.id))
                .with_detail("id", other.id.as_str()))
        }
    }
}

/// Changes the named fields of a Connection.
pub(crate) fn update(
    unit: &mut Unit<'_>,
    id: &ConnectionId,
    request: &UpdateConnection,
) -> Result<Mutation<Connection>> {
    if (UpdateConnection { expected_version: None, ..request.clone() }) == UpdateConnection::default() {
        return Err(change::nothing());
    }
    change::check_clear(&request.clear, CLEARABLE)?;
    let before = live(unit, id)?;
    let mut after = before.clone();
    apply(&mut after, request);
    check::settings(&after)?;
    check_free(unit, &after)?;
    let changed =
        change::commit(unit, &before, &mut after, &edit("connection.update", request.expected_version))?;
    let verifies = changed.iter().any(|field| matches!(field.as_str(), "credentialRef" | "apiUrl"));
    let warnings = if verifies {
        vec!["sends stay stopped until the gateway has verified the identity again".to_owned()]
    } else {
        Vec::new()
    };
    Ok(change::changed(after, changed, warnings))
}

fn apply(connection: &mut Connection, request: &UpdateConnection) {
    for name in &request.clear {
        match name.as_str() {
            "scopeRef" => connection.scope_ref = None,
            "brand" => connection.brand = (connection.provider == "feishu").then(|| "feishu".to_owned()),
            "apiUrl" => connection.api_url = None,
            "proxyUrl" => connection.proxy_url = None,
            _ => connection.capabilities = default_capabilities(&connection.provider),
        }
    }
    let texts = [
        (&mut connection.scope_ref, &request.scope_ref),
        (&mut connection.brand, &request.brand),
        (&mut connection.api_url, &request.api_url),
        (&mut connection.proxy_url, &request.proxy_url),
    ];
    for (field, value) in texts {
        if value.is_some() {
            field.clone_from(value);
        }
    }
    if let Some(account) = &request.account_ref {
        connection.account_ref.clone_from(account);
    }
    if let Some(reference) = &request.credential_ref {
        connection.credential_ref.clone_from(reference);
    }
    if let Some(capabilities) = &request.capabilities {
        connection.capabilities.clone_from(capabilities);
    }
    connection.gateway_mode = request.gateway_mode.unwrap_or(connection.gateway_mode);
    connection.allow_http = request.allow_http.unwrap_or(connection.allow_http);
}

/// What waits while the Connection is off.
fn waiting(unit: &mut Unit<'_>, id: &ConnectionId) -> Result<Vec<String>> {
    let parts = "SELECT COUNT(*) FROM parts WHERE connection_id = ?1 AND open = 1";
    let items = "SELECT COUNT(*) FROM inbox WHERE open = 1 AND state = 'queued' \
         AND address_id IN (SELECT id FROM addresses WHERE connection_id = ?1)";
    let (parts, items) =
        (unit.tx.number(parts, &params![id.as_str()])?, unit.tx.number(items, &params![id.as_str()])?);
    Ok(waiting_words(parts, items, "connection_disabled"))
}

/// Sentences about what a switch holds back.
pub(crate) fn waiting_words(parts: i64, items: i64, reason: &str) -> Vec<String> {
    let mut words = Vec::new();
    if parts > 0 {
        words.push(format!("{parts} outbox parts blocked: {reason}"));
    }
    if items > 0 {
        words.push(format!("{items} inbox items blocked: {reason}"));
    }
    words
}
