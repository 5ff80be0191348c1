//! The Outbox as lists and details show it.

use loom_api::{
    query,
    view::{OutboxDetail, OutboxEntry},
};
use loom_domain::{
    AddressId, Agent, MembershipId, OutboxId, OutboxItem, Part, Principal, Result, Timestamp, outbox::State,
};

use super::lookup::{self, Filter};
use crate::{Store, Tx, docs, page::PageQuery, params, records::StoredPart};

impl Store {
    /// A page of Outbox items, newest first. An Agent sees its own.
    pub async fn list_outbox(
        &self,
        principal: Principal,
        query: query::Outbox,
        now: Timestamp,
    ) -> Result<loom_api::Page<OutboxEntry>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.agent_of(tx, &principal, query.agent.as_deref())?;
            let state: Option<State> = query.state.as_deref().map(str::parse).transpose()?;
            filter.eq("state", state.map(State::as_str));
            if query.dead.unwrap_or(false) {
                filter.plain("state IN ('failed', 'expired')");
            }
            let address: Option<AddressId> = lookup::id(query.address.as_deref())?;
            filter.eq("address_id", address.as_ref().map(AddressId::as_str));
            let membership: Option<MembershipId> = lookup::id(query.membership.as_deref())?;
            filter.eq("membership_id", membership.as_ref().map(MembershipId::as_str));
            if let Some(text) = &query.since {
                filter.and("created_at >= ?", lookup::since(now, text)?);
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |item: &OutboxItem| item.seq)?;
            lookup::map_page(page, |item| entry(tx, item))
        })
        .await
    }

    /// Everything about one Outbox item.
    pub async fn outbox_detail(&self, principal: Principal, id: OutboxId) -> Result<OutboxDetail> {
        self.read(move |tx| {
            let item: OutboxItem = docs::require(tx, id.as_str())?;
            lookup::check_sees(&principal, &item.agent_id)?;
            let agent: Option<Agent> = docs::get(tx, item.agent_id.as_str())?;
            let attempts = docs::select(tx, "outbox_id = ?1 ORDER BY seq", &params![id.as_str()])?;
            Ok(OutboxDetail { entry: entry(tx, item)?, agent_name: agent.map(|a| a.name), attempts })
        })
        .await
    }
}

/// Parts of an item, in order.
pub(crate) fn parts_of(tx: &mut dyn Tx, id: &OutboxId) -> Result<Vec<Part>> {
    let stored: Vec<StoredPart> = docs::select(tx, "outbox_id = ?1 ORDER BY n", &params![id.as_str()])?;
    Ok(stored.into_iter().map(|stored| stored.part).collect())
}

fn entry(tx: &mut dyn Tx, item: OutboxItem) -> Result<OutboxEntry> {
    Ok(OutboxEntry { parts: parts_of(tx, &item.id)?, item, duplicate: false })
}
