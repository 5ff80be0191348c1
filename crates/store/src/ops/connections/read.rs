//! Connections as the hub and lists read them, with the health that the hub last stored.

use loom_api::{
    query,
    view::{ConnectionEntry, Health},
};
use loom_domain::{
    Address, AgentId, Connection, ConnectionId, Result,
    connection::{ConnectionReason, ConnectionState},
    validate::canonical_provider,
};

use crate::{
    Act, Store, Topic, Tx, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
    params,
    tx::to_doc,
};

impl Store {
    /// A Connection.
    pub async fn connection(&self, id: ConnectionId) -> Result<Connection> {
        self.read(move |tx| docs::require(tx, id.as_str())).await
    }

    /// Every Connection that is not archived.
    pub async fn all_connections(&self) -> Result<Vec<Connection>> {
        self.read(|tx| docs::select(tx, "archived = 0 ORDER BY seq", &[])).await
    }

    /// A Connection with its Addresses and stored health.
    pub async fn connection_entry(&self, id: ConnectionId) -> Result<ConnectionEntry> {
        self.read(move |tx| {
            let connection = docs::require(tx, id.as_str())?;
            entry(tx, connection, true)
        })
        .await
    }

    /// A page of Connections, newest first.
    pub async fn list_connections(
        &self,
        query: query::Connections,
        installed: Vec<String>,
    ) -> Result<loom_api::Page<ConnectionEntry>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            if let Some(word) = &query.provider {
                filter.and("provider = ?", canonical_provider(word, &installed)?.0);
            }
            if let Some(name) = &query.agent {
                let agent: AgentId = lookup::agent(tx, name)?.id;
                filter.and(
                    "id IN (SELECT connection_id FROM addresses WHERE deleted = 0 AND agent_id = ?)",
                    agent.as_str(),
                );
            }
            if !query.archived.unwrap_or(false) {
                filter.plain("archived = 0");
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |connection: &Connection| connection.seq)?;
            lookup::map_page(page, |connection| entry(tx, connection, false))
        })
        .await
    }

    /// The cursor of a Connection: what its gateway has handed over so far.
    pub async fn cursor(&self, id: ConnectionId) -> Result<Option<String>> {
        self.read(move |tx| {
            let sql = "SELECT value FROM connection_cursors WHERE connection_id = ?1";
            Ok(tx.first(sql, &params![id.as_str()])?.map(|row| row.text(0).to_owned()))
        })
        .await
    }

    /// Stores the health of a Connection as the hub sees it, and tells readers.
    pub async fn put_health(&self, act: Act, id: ConnectionId, health: Health) -> Result<()> {
        self.write(act, move |unit| {
            unit.tx.execute(
                "INSERT INTO connection_health (connection_id, at, doc) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (connection_id) DO UPDATE SET at = excluded.at, doc = excluded.doc",
                &params![id.as_str(), unit.now, to_doc(&health)?],
            )?;
            unit.wake(Topic::Feed);
            unit.change("connection.health", id.as_str(), None, 0, &["state"])
        })
        .await
    }

    /// The health of a Connection as the hub last stored it.
    pub async fn health_of(&self, id: ConnectionId) -> Result<Option<Health>> {
        self.read(move |tx| stored_health(tx, &id)).await
    }
}

fn stored_health(tx: &mut dyn Tx, id: &ConnectionId) -> Result<Option<Health>> {
    let sql = "SELECT doc FROM connection_health WHERE connection_id = ?1";
    tx.first(sql, &params![id.as_str()])?.map(|row| row.doc(0)).transpose()
}

fn entry(tx: &mut dyn Tx, connection: Connection, with_health: bool) -> Result<ConnectionEntry> {
    let health = stored_health(tx, &connection.id)?;
    let is_off = !connection.enabled || connection.archived_at.is_some();
    let (state, reason) = match &health {
        _ if is_off => (ConnectionState::Disabled, ConnectionReason::NoGateway),
        Some(health) => (health.state, health.reason),
        None if connection.first_connected_at.is_none() => {
            (ConnectionState::Disconnected, ConnectionReason::NeverStarted)
        }
        None => (ConnectionState::Disconnected, ConnectionReason::NoGateway),
    };
    let addresses: Vec<Address> = docs::select(
        tx,
        "connection_id = ?1 AND deleted = 0 ORDER BY archived, seq",
        &params![connection.id.as_str()],
    )?;
    Ok(ConnectionEntry {
        connection,
        state,
        reason,
        last_error: health.as_ref().and_then(|health| health.last_error.clone()),
        health: health.filter(|_| with_health),
        addresses,
    })
}
