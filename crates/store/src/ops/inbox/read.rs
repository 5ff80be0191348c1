//! Inbox items as lists and details show them.

use loom_api::{
    query,
    view::{AddressRef, AttemptRef, InboxDetail, InboxEntry, MembershipRef, OutboxRef},
};
use loom_domain::{
    Address, AddressId, Agent, Code, Error, EventId, HandlingAttempt, InboxId, Membership, MembershipId,
    Message, MessageId, OutboxItem, Principal, Result, Timestamp, decision::AgentGate, inbox::State,
    reason::BlockedBy,
};

use crate::{
    Store, Tx, docs,
    ops::lookup::{self, Filter},
    page::PageQuery,
    params,
    records::{StoredEvent, StoredItem},
};

impl Store {
    /// A page of Inbox items, newest first. An Agent sees its own.
    pub async fn list_inbox(
        &self,
        principal: Principal,
        query: query::Inbox,
        now: Timestamp,
    ) -> Result<loom_api::Page<InboxEntry>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            filter.agent_of(tx, &principal, query.agent.as_deref())?;
            let state: Option<State> = query.state.as_deref().map(str::parse).transpose()?;
            filter.eq("state", state.map(State::as_str));
            filter.eq(
                "origin",
                query.origin.as_deref().map(|word| if word == "lark" { "feishu" } else { word }),
            );
            let address: Option<AddressId> = lookup::id(query.address.as_deref())?;
            filter.eq("address_id", address.as_ref().map(AddressId::as_str));
            let membership: Option<MembershipId> = lookup::id(query.membership.as_deref())?;
            filter.eq("membership_id", membership.as_ref().map(MembershipId::as_str));
            if query.open.unwrap_or(false) {
                filter.plain("open = 1");
            }
            if let Some(text) = &query.since {
                filter.and("created_at >= ?", lookup::since(now, text)?);
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |stored: &StoredItem| stored.item.seq)?;
            lookup::map_page(page, |stored| entry(tx, stored))
        })
        .await
    }

    /// Everything about one item; `inb_`, `msg_` and `evt_` ids are taken.
    pub async fn inbox_detail(&self, principal: Principal, id: String) -> Result<InboxDetail> {
        self.read(move |tx| {
            let stored = find_item(tx, &id)?;
            lookup::check_sees(&principal, &stored.item.agent_id)?;
            detail(tx, stored)
        })
        .await
    }
}

/// The item that an `inb_`, `msg_` or `evt_` id leads to.
pub(crate) fn find_item(tx: &mut dyn Tx, id: &str) -> Result<StoredItem> {
    if id.starts_with(MessageId::PREFIX) {
        let id: MessageId = id.parse()?;
        return item_of(tx, id.as_str(), None);
    }
    if id.starts_with(EventId::PREFIX) {
        let id: EventId = id.parse()?;
        let stored: StoredEvent = docs::require(tx, id.as_str())?;
        let address = stored.event.address_id.as_ref().map(AddressId::as_str);
        return match &stored.event.message_id {
            Some(message) => item_of(tx, message.as_str(), address),
            None => {
                Err(Error::new(Code::NotFound, format!("{id} made no inbox item ({})", stored.event.reason)))
            }
        };
    }
    let id: InboxId = id.parse()?;
    docs::require(tx, id.as_str())
}

fn item_of(tx: &mut dyn Tx, message: &str, address: Option<&str>) -> Result<StoredItem> {
    let found = match address {
        Some(address) => docs::find(tx, "message_id = ?1 AND address_id = ?2", &params![message, address])?,
        None => docs::find(tx, "message_id = ?1 ORDER BY seq", &params![message])?,
    };
    found.ok_or_else(|| Error::not_found("inbox item of", message))
}

/// Handling Attempts of an item, oldest first.
pub(crate) fn attempts_of(tx: &mut dyn Tx, item: &InboxId) -> Result<Vec<HandlingAttempt>> {
    docs::select(tx, "inbox_item_id = ?1 ORDER BY seq", &params![item.as_str()])
}

fn entry(tx: &mut dyn Tx, stored: StoredItem) -> Result<InboxEntry> {
    let mut item = stored.item;
    let message: Message = docs::require(tx, item.message_id.as_str())?;
    let address: Option<Address> = match &item.address_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let membership: Option<Membership> = match &item.membership_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let attempt: Option<HandlingAttempt> =
        docs::find(tx, "inbox_item_id = ?1 ORDER BY seq DESC", &params![item.id.as_str()])?;
    let agent: Option<Agent> = docs::get(tx, item.agent_id.as_str())?;
    item.blocked_by = item.blocked_by.or(waits_for(tx, item.state, agent.as_ref())?);
    let replies: Vec<OutboxItem> =
        docs::select(tx, "inbox_item_id = ?1 ORDER BY seq", &params![item.id.as_str()])?;
    Ok(InboxEntry {
        message,
        address: address.map(|a| AddressRef { id: a.id, external_identity: Some(a.external_identity) }),
        membership: membership.map(|m| MembershipRef {
            id: m.id,
            version: m.version,
            display_name: Some(m.display_name),
        }),
        attempt: attempt.map(|a| AttemptRef {
            id: a.id,
            membership_version: a.membership_version,
            effective_reply_policy: a.effective_reply_policy,
            status: a.status,
        }),
        agent_name: agent.map(|a| a.name).unwrap_or_default(),
        outbox_items: replies
            .into_iter()
            .map(|o| OutboxRef { id: o.id, state: o.state, state_reason: o.state_reason })
            .collect(),
        item,
    })
}

/// What a queued item waits for when only its Agent holds it back.
fn waits_for(tx: &mut dyn Tx, state: State, agent: Option<&Agent>) -> Result<Option<BlockedBy>> {
    let Some(agent) = agent.filter(|_| state == State::Queued) else { return Ok(None) };
    let running = "SELECT 1 FROM turns WHERE agent_id = ?1 AND open = 1 LIMIT 1";
    let busy = tx.first(running, &params![agent.id.as_str()])?.is_some();
    Ok(AgentGate { paused: agent.paused, busy, ..AgentGate::default() }.blocked_by())
}

fn detail(tx: &mut dyn Tx, stored: StoredItem) -> Result<InboxDetail> {
    let position = position(tx, &stored)?;
    let attempts = attempts_of(tx, &stored.item.id)?;
    let address = stored.item.address_id.clone();
    let entry = entry(tx, stored)?;
    let event = event_of_message(tx, &entry.message, address.as_ref())?;
    Ok(InboxDetail {
        entry,
        attempts,
        policy_version: event.as_ref().map(|event| event.event.policy_version),
        position,
        event: event.map(|stored| stored.event),
    })
}

/// The Event that brought a Message to an Address.
pub(crate) fn event_of_message(
    tx: &mut dyn Tx,
    message: &Message,
    address: Option<&AddressId>,
) -> Result<Option<StoredEvent>> {
    let (Some(connection), Some(provider_id)) = (&message.connection_id, &message.conversation.message_id)
    else {
        return Ok(None);
    };
    // The sign keeps the order from choosing the index: it would walk over every event of the Connection.
    let events: Vec<StoredEvent> = docs::select(
        tx,
        "connection_id = ?1 AND conversation_id = ?2 AND provider_message_id = ?3 ORDER BY +seq",
        &params![connection.as_str(), message.conversation.conversation_id.as_str(), provider_id.as_str()],
    )?;
    Ok(events.into_iter().find(|stored| {
        stored.event.message_id.as_ref() == Some(&message.id) && stored.event.address_id.as_ref() == address
    }))
}

/// `3rd in queue; behind trn_…`, for an item that waits for its Turn.
fn position(tx: &mut dyn Tx, stored: &StoredItem) -> Result<Option<String>> {
    let item = &stored.item;
    if item.state != State::Queued {
        return Ok(None);
    }
    let ahead =
        "SELECT COUNT(*) FROM inbox WHERE agent_id = ?1 AND state = 'queued' AND open = 1 AND seq < ?2";
    let ahead = tx.number(ahead, &params![item.agent_id.as_str(), item.seq])?;
    let mut text = format!("{} in queue", ordinal(ahead + 1));
    let running = "SELECT id FROM turns WHERE agent_id = ?1 AND open = 1";
    if let Some(row) = tx.first(running, &params![item.agent_id.as_str()])? {
        text.push_str("; behind ");
        text.push_str(row.text(0));
    }
    Ok(Some(text))
}

fn ordinal(n: i64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn places_read_as_people_say_them() {
        let words: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].into_iter().map(super::ordinal).collect();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]);
    }
}
