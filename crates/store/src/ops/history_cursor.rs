//! How far a Connection's history has been read: every message before this time was offered to the Inbox.

use loom_domain::{ConnectionId, Result, Timestamp};

use crate::{Act, Store, params};

impl Store {
    /// The time up to which history was read; absent before the first complete catch-up.
    pub async fn history_cursor(&self, connection: ConnectionId) -> Result<Option<Timestamp>> {
        self.read(move |tx| {
            let sql = "SELECT at FROM connection_cursors WHERE connection_id = ?1";
            Ok(tx.first(sql, &params![key(&connection)])?.map(|row| Timestamp(row.int(0))))
        })
        .await
    }

    /// Moves it forward; it never goes back.
    pub async fn advance_history_cursor(
        &self,
        act: Act,
        connection: ConnectionId,
        at: Timestamp,
    ) -> Result<()> {
        self.write(act, move |unit| {
            unit.tx.execute(
                "INSERT INTO connection_cursors (connection_id, value, at) VALUES (?1, '', ?2) \
                 ON CONFLICT (connection_id) DO UPDATE SET at = excluded.at \
                 WHERE connection_cursors.at < excluded.at",
                &params![key(&connection), at],
            )?;
            Ok(())
        })
        .await
    }

    /// Records that one conversation's history was read, as it stood at that time.
    pub async fn conversation_read(
        &self,
        act: Act,
        connection: ConnectionId,
        conversation: String,
        at: Timestamp,
    ) -> Result<()> {
        self.write(act, move |unit| {
            unit.tx.execute(
                "INSERT INTO conversation_reads (connection_id, conversation_id, at) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (connection_id, conversation_id) DO UPDATE SET at = excluded.at",
                &params![connection.as_str(), conversation.as_str(), at],
            )?;
            Ok(())
        })
        .await
    }
}

/// A row of its own beside the cursor that a connector gives.
fn key(connection: &ConnectionId) -> String {
    format!("history:{connection}")
}
