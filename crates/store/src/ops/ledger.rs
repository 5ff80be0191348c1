//! What the store knows of a platform's messages, and the whole path of any one message.

mod find;
mod trail;

use loom_api::view::Where;
use loom_domain::{ConnectionId, Principal, Result, Timestamp};

use crate::{Store, params};

/// A conversation that a Connection serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownConversation {
    /// Provider's id.
    pub conversation_id: String,
    /// Newest message of it that the ledger knows.
    pub newest_message_id: Option<String>,
    /// When its history was last read.
    pub read_at: Option<Timestamp>,
}

impl Store {
    /// Conversations with an enabled Membership of a live Address, those first whose history was read longest ago.
    pub async fn known_conversations(&self, connection: ConnectionId) -> Result<Vec<KnownConversation>> {
        self.read(move |tx| {
            let rows = tx.query(
                "SELECT DISTINCT m.conversation_id, COALESCE(r.at, 0) AS read_at FROM memberships m \
                 JOIN addresses a ON a.id = m.address_id LEFT JOIN conversation_reads r \
                 ON r.connection_id = a.connection_id AND r.conversation_id = m.conversation_id \
                 WHERE a.connection_id = ?1 AND a.archived = 0 AND a.deleted = 0 AND m.enabled = 1 AND m.archived = 0 \
                 ORDER BY read_at, m.conversation_id",
                &params![connection.as_str()],
            )?;
            let newest = "SELECT provider_message_id FROM events WHERE connection_id = ?1 AND conversation_id = ?2 \
                 AND provider_message_id <> '' ORDER BY seq DESC LIMIT 1";
            rows.iter()
                .map(|row| {
                    let known = tx.first(newest, &params![connection.as_str(), row.text(0)])?;
                    Ok(KnownConversation {
                        conversation_id: row.text(0).to_owned(),
                        newest_message_id: known.map(|known| known.text(0).to_owned()),
                        read_at: Some(Timestamp(row.int(1))).filter(|at| at.0 > 0),
                    })
                })
                .collect()
        })
        .await
    }

    /// Whether the ledger holds a message of a platform: it was judged, or it is one of our own sends.
    pub async fn knows_message(
        &self,
        connection: ConnectionId,
        conversation: String,
        message: String,
    ) -> Result<bool> {
        self.read(move |tx| {
            let values = params![connection.as_str(), conversation, message];
            let judged = "SELECT 1 FROM events WHERE connection_id = ?1 AND conversation_id = ?2 AND provider_message_id = ?3 LIMIT 1";
            let sent = "SELECT 1 FROM receipts WHERE connection_id = ?1 AND conversation_id = ?2 AND external_id = ?3 LIMIT 1";
            Ok(tx.first(judged, &values)?.is_some() || tx.first(sent, &values)?.is_some())
        })
        .await
    }

    /// The whole path of a message: any Loom id, a permalink, or a provider's message id.
    pub async fn where_is(&self, principal: Principal, query: String) -> Result<Where> {
        self.read(move |tx| {
            let path = find::find(tx, query.trim()).or_else(|error| find::unknown(tx, &query, error))?;
            path.check_sees(&principal)?;
            trail::of(tx, &path)
        })
        .await
    }
}
