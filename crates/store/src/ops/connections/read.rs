//! Connections as the hub and lists read them.

use loom_api::{query, view::ConnectionEntry};
use loom_domain::{
    Address, AgentId, Connection, ConnectionId, Result,
    connection::{ConnectionReason, ConnectionState},
    validate::canonical_provider,
};

use crate::{
    Store, Tx, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
    params,
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

    /// A Connection with its Addresses.
    pub async fn connection_entry(&self, id: ConnectionId) -> Result<ConnectionEntry> {
        self.read(move |tx| {
            let connection = docs::require(tx, id.as_str())?;
            entry(tx, connection)
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
            lookup::map_page(page, |connection| entry(tx, connection))
        })
        .await
    }
}

/// The entry of a Connection without a gateway; what runs knows more and says so beside it.
fn entry(tx: &mut dyn Tx, connection: Connection) -> Result<ConnectionEntry> {
    let (state, reason) = if !connection.enabled || connection.archived_at.is_some() {
        (ConnectionState::Disabled, ConnectionReason::NoGateway)
    } else if connection.first_connected_at.is_none() {
        (ConnectionState::Disconnected, ConnectionReason::NeverStarted)
    } else {
        (ConnectionState::Disconnected, ConnectionReason::NoGateway)
    };
    let addresses: Vec<Address> = docs::select(
        tx,
        "connection_id = ?1 AND deleted = 0 ORDER BY archived, seq",
        &params![connection.id.as_str()],
    )?;
    Ok(ConnectionEntry { connection, state, reason, last_error: None, health: None, addresses })
}
