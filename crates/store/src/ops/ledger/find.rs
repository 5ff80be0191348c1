//! Finds the path that an id, link or provider id belongs to.

use loom_domain::{
    ArtifactId, AttemptId, Code, Connection, Error, EventId, HandlingAttempt, InboxId, Message, MessageId,
    OutboxId, OutboxItem, PartId, Principal, Result, SendAttempt, Turn, TurnId,
};
use serde_json::json;

use crate::{
    Tx, docs,
    ops::{inbox, lookup, stats},
    params,
    records::{StoredEvent, StoredItem, StoredPart},
};

/// Rows of one kind on a path.
const ROWS_MAX: i64 = 100;
const QUERY_BYTES_MAX: usize = 2_048;

/// Everything on the path of one message.
#[derive(Default)]
pub(super) struct Path {
    pub(super) events: Vec<StoredEvent>,
    pub(super) items: Vec<StoredItem>,
    pub(super) sends: Vec<OutboxItem>,
}

impl Path {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.items.is_empty() && self.sends.is_empty()
    }

    /// An Agent sees its own paths.
    pub(super) fn check_sees(&self, principal: &Principal) -> Result<()> {
        for stored in &self.items {
            lookup::check_sees(principal, &stored.item.agent_id)?;
        }
        for send in &self.sends {
            lookup::check_sees(principal, &send.agent_id)?;
        }
        let is_limited = matches!(principal, Principal::Agent(_) | Principal::Connector(_));
        for stored in &self.events {
            match stored.agent_id.parse() {
                Ok(agent) => lookup::check_sees(principal, &agent)?,
                Err(_) if is_limited => {
                    return Err(Error::new(Code::Forbidden, "the event belongs to no agent"));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }
}

pub(super) fn find(tx: &mut dyn Tx, query: &str) -> Result<Path> {
    if query.is_empty() || query.len() > QUERY_BYTES_MAX {
        return Err(Error::invalid("q", format!("use 1 to {QUERY_BYTES_MAX} bytes")));
    }
    let path = match by_loom_id(tx, query)? {
        Some(path) => path,
        None => by_provider_id(tx, query)?,
    };
    if path.is_empty() { Err(never_seen(tx, query)?) } else { Ok(path) }
}

fn by_loom_id(tx: &mut dyn Tx, query: &str) -> Result<Option<Path>> {
    let starts = |prefix: &str| {
        query.starts_with(prefix) && loom_domain::id::is_ulid(query.trim_start_matches(prefix))
    };
    let path = if starts(EventId::PREFIX) {
        let stored = docs::require(tx, query)?;
        from_event(tx, stored)?
    } else if starts(MessageId::PREFIX) {
        let message = docs::require(tx, query)?;
        from_message(tx, &message)?
    } else if starts(InboxId::PREFIX) {
        let stored = docs::require(tx, query)?;
        from_item(tx, stored)?
    } else if starts(TurnId::PREFIX) {
        let turn: Turn = docs::require(tx, query)?;
        let stored = docs::require(tx, turn.item_id.as_str())?;
        from_item(tx, stored)?
    } else if starts(OutboxId::PREFIX) {
        let send = docs::require(tx, query)?;
        from_send(tx, send)?
    } else if starts(PartId::PREFIX) {
        let stored: StoredPart = docs::require(tx, query)?;
        let send = docs::require(tx, stored.part.outbox_id.as_str())?;
        from_send(tx, send)?
    } else if starts(AttemptId::PREFIX) {
        from_attempt(tx, query)?
    } else if starts(ArtifactId::PREFIX) {
        from_artifact(tx, query)?
    } else {
        return Ok(None);
    };
    Ok(Some(path))
}

fn from_event(tx: &mut dyn Tx, stored: StoredEvent) -> Result<Path> {
    if let Some(message) = &stored.event.message_id {
        let message: Option<Message> = docs::get(tx, message.as_str())?;
        if let Some(message) = message {
            let mut path = from_message(tx, &message)?;
            if path.events.iter().all(|event| event.event.id != stored.event.id) {
                path.events.push(stored);
            }
            return Ok(path);
        }
    }
    Ok(Path { events: vec![stored], ..Path::default() })
}

fn from_message(tx: &mut dyn Tx, message: &Message) -> Result<Path> {
    let items: Vec<StoredItem> =
        docs::select(tx, "message_id = ?1 ORDER BY seq LIMIT ?2", &params![message.id.as_str(), ROWS_MAX])?;
    let mut path = Path::default();
    for stored in items {
        path.sends.extend(replies(tx, &stored)?);
        path.items.push(stored);
    }
    if let (Some(connection), Some(provider_id)) = (&message.connection_id, &message.conversation.message_id)
    {
        path.events =
            events(tx, Some(connection.as_str()), &message.conversation.conversation_id, provider_id)?;
    }
    Ok(path)
}

fn from_item(tx: &mut dyn Tx, stored: StoredItem) -> Result<Path> {
    let message: Message = docs::require(tx, stored.item.message_id.as_str())?;
    let event = inbox::event_of_message(tx, &message, stored.item.address_id.as_ref())?;
    let sends = replies(tx, &stored)?;
    Ok(Path { events: event.into_iter().collect(), items: vec![stored], sends })
}

fn from_send(tx: &mut dyn Tx, send: OutboxItem) -> Result<Path> {
    match &send.inbox_item_id {
        Some(item) => match docs::get(tx, item.as_str())? {
            Some(stored) => from_item(tx, stored),
            None => Ok(Path { sends: vec![send], ..Path::default() }),
        },
        None => Ok(Path { sends: vec![send], ..Path::default() }),
    }
}

fn from_attempt(tx: &mut dyn Tx, id: &str) -> Result<Path> {
    if let Some(attempt) = docs::get::<HandlingAttempt>(tx, id)? {
        let stored = docs::require(tx, attempt.inbox_item_id.as_str())?;
        return from_item(tx, stored);
    }
    let attempt: SendAttempt = docs::require(tx, id)?;
    let send = docs::require(tx, attempt.outbox_id.as_str())?;
    from_send(tx, send)
}

fn from_artifact(tx: &mut dyn Tx, id: &str) -> Result<Path> {
    let sql = "SELECT owner_id FROM artifact_refs WHERE artifact_id = ?1 ORDER BY owner_id LIMIT 1";
    let Some(row) = tx.first(sql, &params![id])? else { return Ok(Path::default()) };
    match by_loom_id(tx, row.text(0))? {
        Some(path) => Ok(path),
        None => Ok(Path::default()),
    }
}

fn replies(tx: &mut dyn Tx, stored: &StoredItem) -> Result<Vec<OutboxItem>> {
    docs::select(tx, "inbox_item_id = ?1 ORDER BY seq LIMIT ?2", &params![stored.item.id.as_str(), ROWS_MAX])
}

fn events(
    tx: &mut dyn Tx,
    connection: Option<&str>,
    conversation: &str,
    message: &str,
) -> Result<Vec<StoredEvent>> {
    docs::select(
        tx,
        "(?1 = '' OR connection_id = ?1) AND (?2 = '' OR conversation_id = ?2) AND provider_message_id = ?3 ORDER BY seq LIMIT ?4",
        &params![connection.unwrap_or(""), conversation, message, ROWS_MAX],
    )
}

/// Conversation (empty when not told) and message id of a link or provider id.
pub(super) fn provider_ids(query: &str) -> (String, String) {
    let plain = query.split(['?', '#']).next().unwrap_or(query);
    if let Some((_, rest)) = plain.split_once("/archives/")
        && let Some((channel, stamp)) = rest.split_once('/')
        && let Some(digits) = stamp.trim_end_matches('/').strip_prefix('p')
        && digits.len() > 6
        && digits.bytes().all(|b| b.is_ascii_digit())
        && let Some((seconds, micros)) = digits.split_at_checked(digits.len() - 6)
    {
        return (channel.to_owned(), format!("{seconds}.{micros}"));
    }
    if let Some(rest) = plain.strip_prefix("slack:")
        && let Some((channel, stamp)) = rest.split_once('/')
    {
        return (channel.to_owned(), stamp.to_owned());
    }
    let bare = plain.strip_prefix("prll://").unwrap_or(plain);
    if bare.contains("://") {
        let last = bare.rsplit(['/', '=']).find(|part| !part.is_empty()).unwrap_or("");
        return (String::new(), last.to_owned());
    }
    (String::new(), bare.to_owned())
}

fn by_provider_id(tx: &mut dyn Tx, query: &str) -> Result<Path> {
    let (conversation, message) = provider_ids(query);
    // The platform echoes what was sent as an Event; the send is what it is about.
    if let Some(send) = sent_as(tx, &conversation, &message)? {
        return from_send(tx, send);
    }
    let mut path = Path::default();
    for stored in events(tx, None, &conversation, &message)? {
        if path.events.iter().any(|known| known.event.id == stored.event.id) {
            continue;
        }
        let more = from_event(tx, stored)?;
        path.events.extend(more.events);
        path.items.extend(more.items);
        path.sends.extend(more.sends);
    }
    Ok(path)
}

/// Our own send that the platform knows under an id.
fn sent_as(tx: &mut dyn Tx, conversation: &str, message: &str) -> Result<Option<OutboxItem>> {
    let sql = "SELECT outbox_id FROM receipts WHERE connection_id = ?1 AND external_id = ?2 \
         AND (?3 = '' OR conversation_id = ?3) LIMIT 1";
    for connection in tx.query("SELECT id FROM connections ORDER BY seq", &[])? {
        if let Some(row) = tx.first(sql, &params![connection.text(0), message, conversation])? {
            return docs::get(tx, row.text(0));
        }
    }
    Ok(None)
}

/// Nothing is known: what each Connection heard last helps to find out why.
/// An id of ours that names nothing was never seen either.
pub(super) fn unknown<T>(tx: &mut dyn Tx, query: &str, error: Error) -> Result<T> {
    match error.code {
        Code::NotFound => Err(never_seen(tx, query)?),
        _ => Err(error),
    }
}

fn never_seen(tx: &mut dyn Tx, query: &str) -> Result<Error> {
    let provider = match query {
        q if q.starts_with("slack:") || q.contains("/archives/") => Some("slack"),
        q if q.starts_with("om_") || q.contains("feishu") || q.contains("larksuite") => Some("feishu"),
        q if q.starts_with("prll://") => Some("parall"),
        _ => None,
    };
    let connections: Vec<Connection> =
        docs::select(tx, "archived = 0 ORDER BY seq LIMIT ?1", &params![ROWS_MAX])?;
    let mut told = Vec::new();
    for connection in connections.iter().filter(|c| provider.is_none_or(|p| c.provider == p)) {
        let last = stats::newest(tx, connection.id.as_str(), "")?;
        told.push(json!({"id": connection.id, "provider": connection.provider, "enabled": connection.enabled, "last_event_at": last}));
    }
    Ok(Error::new(Code::NeverSeen, "the message was never seen").with_detail("connections", told))
}

#[cfg(test)]
mod tests {
    use super::provider_ids;

    #[test]
    fn links_lead_to_provider_ids() {
        let of = |query: &str| provider_ids(query);
        let slack = ("C0123".to_owned(), "1700000000.123456".to_owned());
        assert_eq!(of("https://acme.slack.com/archives/C0123/p1700000000123456"), slack);
        assert_eq!(of("https://acme.slack.com/archives/C0123/p1700000000123456?thread_ts=1.2&cid=C"), slack);
        assert_eq!(of("slack:C0123/1700000000.123456"), slack);
        assert_eq!(of("om_abc"), (String::new(), "om_abc".to_owned()));
        assert_eq!(of("prll://msg_1"), (String::new(), "msg_1".to_owned()));
    }
}
