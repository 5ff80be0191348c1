//! Gathers what admission depends on and asks the domain.

use loom_domain::{
    Address, AgentId, Connection, HandlingAttempt, Membership, Message, OutboxItem, Result,
    admission::{Admission, AdmissionInput, Purpose, SendRequest, admit as judge},
    artifact::FILE_BYTES_MAX,
    decision::effective_reply_policy,
    idempotency::{Earlier, Fingerprint, proactive_scope, reply_scope},
    message::{Origin, SenderKind},
};

use super::{Draft, To};
use crate::{Tx, Unit, docs, params, records::StoredItem};

/// An admitted send, ready to store.
pub(crate) struct Admitted {
    pub(crate) admission: Admission,
    pub(crate) draft: Draft,
    pub(crate) request: SendRequest,
    pub(crate) fingerprint: String,
    pub(crate) scope: Option<String>,
    pub(crate) earlier: Option<OutboxItem>,
    pub(crate) connection: Connection,
    pub(crate) address: Address,
    pub(crate) membership: Option<Membership>,
    pub(crate) message: Option<Message>,
    pub(crate) labels: Vec<String>,
    pub(crate) agent_id: AgentId,
}

struct Place {
    connection: Option<Connection>,
    address: Option<Address>,
    membership: Option<Membership>,
}

/// Admits a send as it comes from a caller.
pub(super) fn admit(unit: &mut Unit<'_>, to: &To, draft: &Draft) -> Result<Admitted> {
    match to {
        To::Item(id) => {
            let stored: Option<StoredItem> = docs::get(unit.tx, id.as_str())?;
            let Some(stored) = stored else {
                return Err(loom_domain::Error::not_found("inbox item", id.as_str()));
            };
            let attempt = newest_attempt(unit.tx, &stored)?;
            let labels = labels_of(unit.tx, &stored)?;
            reply(unit, &stored, attempt.as_ref(), draft, &labels)
        }
        To::Membership { membership, from, target_belongs } => {
            let membership: Option<Membership> = docs::get(unit.tx, membership.as_str())?;
            proactive(unit, membership, from, *target_belongs, draft)
        }
    }
}

/// Admits the final answer of a Turn.
pub(crate) fn admit_reply(
    unit: &mut Unit<'_>,
    stored: &StoredItem,
    attempt: &HandlingAttempt,
    draft: &Draft,
    labels: &[String],
) -> Result<Admitted> {
    reply(unit, stored, Some(attempt), draft, labels)
}

fn newest_attempt(tx: &mut dyn Tx, stored: &StoredItem) -> Result<Option<HandlingAttempt>> {
    docs::find(tx, "inbox_item_id = ?1 ORDER BY seq DESC", &params![stored.item.id.as_str()])
}

fn labels_of(tx: &mut dyn Tx, stored: &StoredItem) -> Result<Vec<String>> {
    let agent: loom_domain::Agent = docs::require(tx, stored.item.agent_id.as_str())?;
    let address: Option<Address> = match &stored.item.address_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let domain = address.as_ref().map(|a| a.trust_domain.as_str());
    Ok(loom_domain::trust::turn_labels(&agent.thread_labels, domain, &[])
        .into_iter()
        .map(str::to_owned)
        .collect())
}

fn reply(
    unit: &mut Unit<'_>,
    stored: &StoredItem,
    attempt: Option<&HandlingAttempt>,
    draft: &Draft,
    labels: &[String],
) -> Result<Admitted> {
    let message: Message = docs::require(unit.tx, stored.item.message_id.as_str())?;
    let place = place_of(unit.tx, stored, &message)?;
    let policy = match (attempt, &place.address) {
        (Some(attempt), _) => attempt.effective_reply_policy,
        (None, Some(address)) => {
            effective_reply_policy(address, place.membership.as_ref(), message.response_expectation)
        }
        (None, None) => loom_domain::ReplyPolicy::None,
    };
    let n = attempt.map_or(0, |a| a.n);
    let scope = reply_scope(&stored.item.agent_id, &stored.item.id, n, None);
    let earlier = earlier_reply(unit.tx, stored, &scope)?;
    let purpose = Purpose::Reply {
        item: Some(&stored.item),
        origin: message.origin,
        expectation: message.response_expectation,
        reply_policy: policy,
    };
    let agent_id = stored.item.agent_id.clone();
    let mut admitted = run(unit, Ask { draft, purpose, place, scope, earlier, labels, agent_id })?;
    admitted.message = Some(message);
    Ok(admitted)
}

/// The newest reply in the same scope.
fn earlier_reply(tx: &mut dyn Tx, stored: &StoredItem, scope: &str) -> Result<Option<OutboxItem>> {
    let Some(row) = tx.first("SELECT outbox_id FROM idempotency WHERE scope = ?1", &params![scope])? else {
        return Ok(None);
    };
    debug_assert!(stored.item.outbox_ids.iter().any(|id| id.as_str() == row.text(0)));
    docs::get(tx, row.text(0))
}

fn place_of(tx: &mut dyn Tx, stored: &StoredItem, message: &Message) -> Result<Place> {
    let address: Option<Address> = match &stored.item.address_id {
        Some(id) => docs::get(tx, id.as_str())?,
        None => None,
    };
    let connection = match &address {
        Some(address) => docs::get(tx, address.connection_id.as_str())?,
        None => None,
    };
    let membership = match (&stored.item.membership_id, &address) {
        (Some(id), _) => docs::get(tx, id.as_str())?,
        (None, Some(address)) => {
            crate::ops::inbound::context_of(tx, address, &message.conversation.conversation_id)?.membership
        }
        (None, None) => None,
    };
    Ok(Place { connection, address, membership })
}

fn proactive(
    unit: &mut Unit<'_>,
    membership: Option<Membership>,
    from: &AgentId,
    target_belongs: Option<bool>,
    draft: &Draft,
) -> Result<Admitted> {
    let address: Option<Address> = match &membership {
        Some(membership) => docs::get(unit.tx, membership.address_id.as_str())?,
        None => None,
    };
    let connection: Option<Connection> = match &address {
        Some(address) => docs::get(unit.tx, address.connection_id.as_str())?,
        None => None,
    };
    let (mut last_hour, mut newest, mut quiet_until, mut scope) = (0, Vec::new(), None, String::new());
    if let Some(membership) = &membership {
        last_hour = sent_last_hour(unit, membership)?;
        newest = newest_senders(unit.tx, connection.as_ref(), membership)?;
        quiet_until = match &membership.quiet_hours {
            Some(hours) => loom_domain::quiet::quiet_until(hours, unit.now)?,
            None => None,
        };
        scope = proactive_scope(from, &membership.id, draft.idempotency_key.as_deref().unwrap_or(""));
    }
    let earlier = match unit
        .tx
        .first("SELECT outbox_id FROM idempotency WHERE scope = ?1", &params![scope.as_str()])?
    {
        Some(row) => docs::get(unit.tx, row.text(0))?,
        None => None,
    };
    let purpose =
        Purpose::Proactive { from, last_hour, newest_senders: &newest, quiet_until, target_belongs };
    let agent: Option<loom_domain::Agent> = docs::get(unit.tx, from.as_str())?;
    let labels = agent.map(|a| a.thread_labels).unwrap_or_default();
    let place = Place { connection, address, membership };
    run(unit, Ask { draft, purpose, place, scope, earlier, labels: &labels, agent_id: from.clone() })
}

fn sent_last_hour(unit: &mut Unit<'_>, membership: &Membership) -> Result<u32> {
    let sql = "SELECT COUNT(*) FROM outbox WHERE membership_id = ?1 AND created_at > ?2 AND proactive = 1";
    let count = unit.tx.number(sql, &params![membership.id.as_str(), unit.now.plus_ms(-3_600_000)])?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Kinds of the newest senders of the conversation, newest first.
fn newest_senders(
    tx: &mut dyn Tx,
    connection: Option<&Connection>,
    membership: &Membership,
) -> Result<Vec<SenderKind>> {
    let Some(connection) = connection else { return Ok(Vec::new()) };
    let newest: Vec<Message> = docs::select(
        tx,
        "connection_id = ?1 AND conversation_id = ?2 ORDER BY seq DESC LIMIT 3",
        &params![connection.id.as_str(), membership.conversation_id.as_str()],
    )?;
    Ok(newest.iter().filter(|m| m.origin == Origin::Provider).map(|m| m.sender.kind).collect())
}

struct Ask<'a> {
    draft: &'a Draft,
    purpose: Purpose<'a>,
    place: Place,
    scope: String,
    earlier: Option<OutboxItem>,
    labels: &'a [String],
    agent_id: AgentId,
}

fn run(unit: &mut Unit<'_>, ask: Ask<'_>) -> Result<Admitted> {
    let request = request_of(ask.draft);
    let files: Vec<(String, String)> =
        request.files.iter().map(|f| (f.sha256.clone(), f.name.clone())).collect();
    let fingerprint = Fingerprint {
        text: &request.text,
        format: request.format,
        files: &files,
        target: &request.target,
        expect_reply: request.expect_reply,
    }
    .digest();
    let open = "SELECT COUNT(*) FROM outbox WHERE agent_id = ?1 AND open = 1";
    let open = unit.tx.number(open, &params![ask.agent_id.as_str()])?;
    let earlier = ask.earlier.as_ref().map(|item| Earlier {
        id: &item.id,
        state: item.state,
        fingerprint: &item.fingerprint,
        last_error: item.last_error.as_ref(),
    });
    let admission = judge(&AdmissionInput {
        principal: &unit.principal,
        request: &request,
        purpose: ask.purpose,
        connection: ask.place.connection.as_ref(),
        address: ask.place.address.as_ref(),
        membership: ask.place.membership.as_ref(),
        fingerprint: &fingerprint,
        earlier,
        chunks: Some(ask.draft.chunks.len()),
        platform_file_bytes_max: ask.draft.platform_file_bytes_max.unwrap_or(FILE_BYTES_MAX),
        labels: ask.labels,
        open_of_agent: u32::try_from(open).unwrap_or(u32::MAX),
    })?;
    let (Some(connection), Some(address)) = (ask.place.connection, ask.place.address) else {
        return Err(loom_domain::Error::internal("admitted without an address"));
    };
    Ok(Admitted {
        admission,
        draft: ask.draft.clone(),
        request,
        fingerprint,
        scope: Some(ask.scope).filter(|s| !s.is_empty()),
        earlier: ask.earlier,
        connection,
        address,
        membership: ask.place.membership,
        message: None,
        labels: ask.labels.to_vec(),
        agent_id: ask.agent_id,
    })
}

fn request_of(draft: &Draft) -> SendRequest {
    SendRequest {
        text: draft.text.clone(),
        format: draft.format.unwrap_or(loom_domain::TextFormat::Markdown),
        files: draft.files.iter().map(|f| f.file.clone()).collect(),
        target: draft.target.clone(),
        expect_reply: draft.expect_reply.unwrap_or(loom_domain::Expectation::None),
        idempotency_key: draft.idempotency_key.clone(),
        urgent: draft.urgent,
    }
}
