//! Resting connections, by where they lead.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Connection;

/// Longest rest of a connection.
const REST_MAX: Duration = Duration::from_secs(30);
/// Longest rest before a write: the peer is less likely to close it under the request.
const REST_BEFORE_WRITE_MAX: Duration = Duration::from_secs(3);
/// Resting connections per destination.
const PER_KEY_MAX: usize = 8;
/// Resting connections of the process.
const TOTAL_MAX: usize = 256;

/// Resting connections.
#[derive(Debug, Default)]
pub(super) struct Pool {
    resting: Mutex<HashMap<String, Vec<Connection>>>,
}

impl Pool {
    /// The freshest usable connection.
    pub(super) fn take(&self, key: &str, write: bool) -> Option<Connection> {
        let rest = if write { REST_BEFORE_WRITE_MAX } else { REST_MAX };
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = resting.get_mut(key)?;
        connections.retain(|c| c.is_open() && c.rested_at.elapsed() < REST_MAX);
        let fresh = connections.iter().rposition(|c| c.rested_at.elapsed() < rest);
        fresh.map(|index| connections.swap_remove(index))
    }

    /// Lays a connection to rest.
    pub(super) fn put(&self, key: &str, mut connection: Connection) {
        if !connection.is_open() {
            return;
        }
        connection.rested_at = Instant::now();
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.retain(|_, all| {
            all.retain(|c| c.is_open() && c.rested_at.elapsed() < REST_MAX);
            !all.is_empty()
        });
        let total: usize = resting.values().map(Vec::len).sum();
        let of_key = resting.entry(key.to_owned()).or_default();
        if of_key.len() < PER_KEY_MAX && total < TOTAL_MAX {
            of_key.push(connection);
        }
    }
}
