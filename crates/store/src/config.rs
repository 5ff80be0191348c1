//! Where the data lives and how it is committed.

use std::path::PathBuf;
use std::time::Duration;

/// Which database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `HOME/db/loom.db`.
    Sqlite,
    /// A PostgreSQL connection string.
    Postgres(String),
}

/// Settings of the store.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Which database.
    pub url: StoreUrl,
    /// Data directory (`LOOM_HOME`).
    pub home: PathBuf,
    /// Id of this hub node; names its audit chain.
    pub node: String,
    /// Longest wait of a group for company.
    pub commit_delay: Duration,
    /// Most operations in one commit.
    pub commit_max: usize,
    /// Size to which the write-ahead log is cut back, bytes.
    pub wal_limit_bytes: u64,
    /// Reading threads.
    pub reader_threads: usize,
}

impl StoreConfig {
    /// The defaults for a data directory and node.
    pub fn new(home: impl Into<PathBuf>, node: impl Into<String>) -> Self {
        StoreConfig {
            url: StoreUrl::Sqlite,
            home: home.into(),
            node: node.into(),
            commit_delay: Duration::from_micros(500),
            commit_max: 256,
            wal_limit_bytes: 67_108_864,
            reader_threads: 4,
        }
    }
}
