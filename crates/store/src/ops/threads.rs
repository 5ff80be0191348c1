//! Turns of an Agent as its Thread shows them.

use loom_api::{query, view::TurnEntry};
use loom_domain::{Principal, Result, Turn, TurnId};

use super::lookup::{self, Filter};
use crate::{Store, Tx, docs, page::PageQuery, records::StoredItem};

impl Store {
    /// A page of an Agent's Turns, newest first.
    pub async fn turns_of(
        &self,
        principal: Principal,
        agent: String,
        paging: query::Paging,
    ) -> Result<loom_api::Page<TurnEntry>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.agent_of(tx, &principal, Some(&agent))?;
            let paging = PageQuery { limit: paging.limit, cursor: paging.cursor };
            let page = filter.page(tx, &paging, |turn: &Turn| turn.seq)?;
            lookup::map_page(page, |turn| entry(tx, turn))
        })
        .await
    }

    /// One Turn with its item and replies.
    pub async fn turn(&self, principal: Principal, id: TurnId) -> Result<TurnEntry> {
        self.read(move |tx| {
            let turn: Turn = docs::require(tx, id.as_str())?;
            lookup::check_sees(&principal, &turn.agent_id)?;
            entry(tx, turn)
        })
        .await
    }
}

fn entry(tx: &mut dyn Tx, turn: Turn) -> Result<TurnEntry> {
    let stored: Option<StoredItem> = docs::get(tx, turn.item_id.as_str())?;
    let (item, origin) = stored.map(|stored| (stored.item, stored.origin)).unzip();
    let outbox_ids = item.as_ref().map(|item| item.outbox_ids.clone()).unwrap_or_default();
    Ok(TurnEntry { turn, item, origin, outbox_ids })
}
