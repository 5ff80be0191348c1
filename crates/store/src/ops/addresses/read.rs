//! Addresses as lists show them.

use loom_api::query;
use loom_domain::{Address, AddressId, AgentId, ConnectionId, Result};

use crate::{
    Store, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
    params,
};

impl Store {
    /// An Address.
    pub async fn address(&self, id: AddressId) -> Result<Address> {
        self.read(move |tx| docs::require(tx, id.as_str())).await
    }

    /// Addresses of an Agent that are not deleted.
    pub async fn addresses_of(&self, agent: AgentId) -> Result<Vec<Address>> {
        self.read(move |tx| {
            docs::select(tx, "agent_id = ?1 AND deleted = 0 ORDER BY seq", &params![agent.as_str()])
        })
        .await
    }

    /// A page of Addresses, newest first. Deleted ones are in no list.
    pub async fn list_addresses(&self, query: query::Addresses) -> Result<loom_api::Page<Address>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.plain("deleted = 0");
            if let Some(name) = &query.agent {
                filter.and("agent_id = ?", lookup::agent(tx, name)?.id.as_str());
            }
            let connection: Option<ConnectionId> = lookup::id(query.connection.as_deref())?;
            filter.eq("connection_id", connection.as_ref().map(ConnectionId::as_str));
            if !query.archived.unwrap_or(false) {
                filter.plain("archived = 0");
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |address: &Address| address.seq)?;
            lookup::map_page(page, Ok)
        })
        .await
    }
}
