//! What the hub's workers look up and keep: files of messages, working marks, states.

use loom_domain::{
    ConnectionId, Error, InboxId, Message, MessageId, Result,
    artifact::FILES_PER_MESSAGE_MAX,
    inbox::{Item, State},
    message::{Attachment, AttachmentStatus},
};

use crate::{Act, Store, Tx, docs, params, records::StoredItem};

/// Items looked at in one call.
const ITEMS_MAX: i64 = 1_000;

/// Where a working mark belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveMark {
    /// Item.
    pub item: InboxId,
    /// Its state.
    pub state: State,
    /// Connection.
    pub connection: ConnectionId,
    /// Conversation at the provider.
    pub conversation_id: String,
    /// Message at the provider.
    pub message_id: String,
}

impl Store {
    /// Writes what became of a Message's files.
    pub async fn set_attachments(&self, act: Act, id: MessageId, files: Vec<Attachment>) -> Result<Message> {
        self.write(act, move |unit| {
            if files.len() > FILES_PER_MESSAGE_MAX {
                return Err(Error::invalid("attachments", format!("at most {FILES_PER_MESSAGE_MAX} files")));
            }
            let mut message: Message = docs::require_locked(unit.tx, id.as_str())?;
            let content = message.current_mut();
            if content.attachments == files {
                return Ok(message);
            }
            content.attachments.clone_from(&files);
            docs::update(unit.tx, &message)?;
            for artifact in files.iter().filter_map(|file| file.artifact_id.as_ref()) {
                unit.tx.execute(
                    "INSERT INTO artifact_refs (artifact_id, owner_id) VALUES (?1, ?2) ON CONFLICT (artifact_id, owner_id) DO NOTHING",
                    &params![artifact.as_str(), id.as_str()],
                )?;
            }
            unit.change("message.changed", id.as_str(), None, 0, &["content"])?;
            unit.wake(crate::Topic::Inbox);
            Ok(message)
        })
        .await
    }

    /// A Message.
    pub async fn message(&self, id: MessageId) -> Result<Message> {
        self.read(move |tx| docs::require(tx, id.as_str())).await
    }

    /// An Inbox item.
    pub async fn inbox_item(&self, id: InboxId) -> Result<Item> {
        self.read(move |tx| Ok(docs::require::<StoredItem>(tx, id.as_str())?.item)).await
    }

    /// Present states of items; unknown ids are left out.
    pub async fn item_states(&self, ids: Vec<InboxId>) -> Result<Vec<(InboxId, State)>> {
        self.read(move |tx| {
            let mut states = Vec::with_capacity(ids.len());
            for id in ids {
                if let Some(row) = tx.first("SELECT state FROM inbox WHERE id = ?1", &params![id.as_str()])? {
                    states.push((id, row.text(0).parse()?));
                }
            }
            Ok(states)
        })
        .await
    }

    /// Items that are being worked on, oldest first, with the message that shows it.
    pub async fn active_marks(&self) -> Result<Vec<ActiveMark>> {
        self.read(|tx| {
            let rows = tx.query(
                "SELECT i.id, i.state, m.connection_id, m.conversation_id, m.provider_message_id \
                 FROM inbox i JOIN messages m ON m.id = i.message_id \
                 WHERE i.open = 1 AND i.state IN ('handling', 'awaiting_delivery') AND m.connection_id <> '' \
                 AND m.provider_message_id <> '' ORDER BY i.seq LIMIT ?1",
                &params![ITEMS_MAX],
            )?;
            rows.iter()
                .map(|row| {
                    Ok(ActiveMark {
                        item: row.text(0).parse()?,
                        state: row.text(1).parse()?,
                        connection: row.text(2).parse()?,
                        conversation_id: row.text(3).to_owned(),
                        message_id: row.text(4).to_owned(),
                    })
                })
                .collect()
        })
        .await
    }

    /// Queued items whose files are not all fetched, oldest first, with their Messages.
    pub async fn items_with_pending_files(&self) -> Result<Vec<(Item, Message)>> {
        self.read(|tx| {
            let queued: Vec<StoredItem> = docs::select(
                tx,
                "state IN ('queued', 'deferred', 'handling') AND open = 1 AND EXISTS \
                 (SELECT 1 FROM messages m WHERE m.id = inbox.message_id AND m.doc LIKE '%\"status\":\"pending\"%') ORDER BY seq LIMIT ?1",
                &params![ITEMS_MAX],
            )?;
            with_pending(tx, queued)
        })
        .await
    }
}

fn with_pending(tx: &mut dyn Tx, items: Vec<StoredItem>) -> Result<Vec<(Item, Message)>> {
    let mut found = Vec::new();
    for stored in items {
        let message: Message = docs::require(tx, stored.item.message_id.as_str())?;
        let waits = message.current().attachments.iter().any(|file| file.status == AttachmentStatus::Pending);
        if waits {
            found.push((stored.item, message));
        }
    }
    Ok(found)
}
