//! Refused Events: lists, the steps of one, totals.

use loom_api::{
    query,
    view::{PolicyStep, ReasonCount, RefusalDetail},
};
use loom_domain::{
    AddressId, ConnectionId, Error, Event, EventId, Principal, Result, Timestamp, message::Decision,
    reason::EventReason,
};

use crate::{
    Store, docs,
    ops::{
        lookup::{self, Filter},
        policy,
    },
    page::PageQuery,
    records::StoredEvent,
};

impl Store {
    /// A page of refused Events, newest first.
    pub async fn list_refusals(
        &self,
        principal: Principal,
        query: query::Refusals,
        now: Timestamp,
    ) -> Result<loom_api::Page<Event>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.plain("decision = 'refused'");
            filter.agent_of(tx, &principal, query.agent.as_deref())?;
            let reason: Option<EventReason> = query.reason.as_deref().map(str::parse).transpose()?;
            filter.eq("reason", reason.map(EventReason::as_str));
            let address: Option<AddressId> = lookup::id(query.address.as_deref())?;
            filter.eq("address_id", address.as_ref().map(AddressId::as_str));
            let connection: Option<ConnectionId> = lookup::id(query.connection.as_deref())?;
            filter.eq("connection_id", connection.as_ref().map(ConnectionId::as_str));
            filter.eq("conversation_id", query.conversation.as_deref());
            filter.eq("actor_id", query.actor.as_deref());
            if let Some(text) = &query.since {
                filter.and("received_at >= ?", lookup::since(now, text)?);
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |stored: &StoredEvent| stored.event.seq)?;
            lookup::map_page(page, |stored| Ok(stored.event))
        })
        .await
    }

    /// A refused Event with every step of its judgement.
    pub async fn refusal(&self, principal: Principal, id: EventId) -> Result<RefusalDetail> {
        self.read(move |tx| {
            let stored: StoredEvent = docs::require(tx, id.as_str())?;
            if !stored.is_refusal() {
                return Err(Error::not_found("refusal", id.as_str()));
            }
            if let Ok(agent) = stored.agent_id.parse() {
                lookup::check_sees(&principal, &agent)?;
            }
            let steps = steps_of(tx, &stored)?;
            Ok(RefusalDetail { event: stored.event, steps })
        })
        .await
    }

    /// Totals of refused Events per reason.
    pub async fn refusal_counts(&self) -> Result<Vec<ReasonCount>> {
        self.read(|tx| {
            let sql =
                "SELECT reason, total FROM reason_counts WHERE decision = ?1 ORDER BY total DESC, reason";
            let rows = tx.query(sql, &crate::params![Decision::Refused.as_str()])?;
            rows.iter()
                .map(|row| Ok(ReasonCount { reason: row.text(0).parse()?, count: row.uint(1) }))
                .collect()
        })
        .await
    }
}

/// The steps as they were taken; for an Event without them, as they would be taken now.
fn steps_of(tx: &mut dyn crate::Tx, stored: &StoredEvent) -> Result<Vec<PolicyStep>> {
    if stored.trace.is_empty() {
        return Ok(policy::explain_event(tx, stored, &policy::PolicyDraft::default())?.steps);
    }
    Ok(stored.trace.clone())
}
