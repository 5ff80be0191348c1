//! Memberships as lists show them.

use loom_api::query;
use loom_domain::{AddressId, AgentId, ConversationType, Membership, MembershipId, Principal, Result};

use crate::{
    Store, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
};

const PENDING: &str = "EXISTS (SELECT 1 FROM inbox i WHERE i.address_id = memberships.address_id \
     AND i.conversation_id = memberships.conversation_id AND i.state = 'pending_access' AND i.open = 1)";

impl Store {
    /// A Membership.
    pub async fn membership(&self, id: MembershipId) -> Result<Membership> {
        self.read(move |tx| docs::require(tx, id.as_str())).await
    }

    /// A page of Memberships, newest first.
    pub async fn list_memberships(
        &self,
        principal: Principal,
        query: query::Memberships,
    ) -> Result<loom_api::Page<Membership>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            let named: Option<AgentId> = match (&principal, &query.agent) {
                (Principal::Agent(own), None) => Some(own.clone()),
                (_, Some(name)) => Some(lookup::agent(tx, name)?.id),
                (_, None) => None,
            };
            if let Some(agent) = named {
                lookup::check_sees(&principal, &agent)?;
                filter.and("address_id IN (SELECT id FROM addresses WHERE agent_id = ?)", agent.as_str());
            }
            let address: Option<AddressId> = lookup::id(query.address.as_deref())?;
            filter.eq("address_id", address.as_ref().map(AddressId::as_str));
            let kind: Option<ConversationType> = query.kind.as_deref().map(str::parse).transpose()?;
            filter.eq("kind", kind.map(ConversationType::as_str));
            if let Some(enabled) = query.enabled {
                filter.and("enabled = ?", enabled);
            }
            if query.pending.unwrap_or(false) {
                filter.plain("kind = 'dm'");
                filter.plain(PENDING);
            }
            if !query.archived.unwrap_or(false) {
                filter.plain("archived = 0");
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |membership: &Membership| membership.seq)?;
            lookup::map_page(page, Ok)
        })
        .await
    }
}
