//! Numbered, checksummed, forward-only migrations, one transaction each.

use loom_domain::{Code, Error, Result, Timestamp};
use sha2::{Digest, Sha256};

use crate::{
    engine::{EngineSend, Purpose},
    params,
    tx::Tx,
};

const MIGRATIONS: &[(i64, &str)] = &[
    (1, include_str!("../migrations/0001_base.sql")),
    (2, include_str!("../migrations/0002_gates.sql")),
    (3, include_str!("../migrations/0003_webhooks.sql")),
    (4, include_str!("../migrations/0004_integration.sql")),
    (5, include_str!("../migrations/0005_indexes.sql")),
    (6, include_str!("../migrations/0006_schedules.sql")),
    (7, include_str!("../migrations/0007_event_indexes.sql")),
];

/// Newest schema this program knows.
const SCHEMA_VERSION: i64 = 7;

/// Brings the schema up to date. A newer schema than this program knows is `schema_too_new`.
pub(crate) fn migrate(engine: &mut dyn EngineSend, now: Timestamp) -> Result<()> {
    engine.begin(Purpose::Write)?;
    let outcome = run(engine.as_tx(), now);
    match outcome {
        Ok(()) => engine.commit(),
        Err(error) => {
            engine.rollback();
            Err(error)
        }
    }
}

fn run(tx: &mut dyn Tx, now: Timestamp) -> Result<()> {
    tx.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL, at BIGINT NOT NULL)",
        &[],
    )?;
    let done = tx.query("SELECT version, checksum FROM schema_migrations ORDER BY version", &[])?;
    for row in &done {
        check_known(row.int(0), row.text(1))?;
    }
    let newest = done.last().map_or(0, |row| row.int(0));
    for (version, sql) in MIGRATIONS.iter().filter(|(version, _)| *version > newest) {
        for statement in sql.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
            tx.execute(statement.trim_end_matches(';'), &[])?;
        }
        tx.execute(
            "INSERT INTO schema_migrations (version, checksum, at) VALUES (?1, ?2, ?3)",
            &params![*version, checksum(sql), now],
        )?;
    }
    Ok(())
}

fn check_known(version: i64, stored: &str) -> Result<()> {
    match MIGRATIONS.iter().find(|(known, _)| *known == version) {
        None => Err(Error::new(
            Code::SchemaTooNew,
            format!("the database has schema {version}; this program knows up to {SCHEMA_VERSION}"),
        )),
        Some((_, sql)) if checksum(sql) != stored => {
            Err(Error::new(Code::StoreCorrupt, format!("migration {version} was changed after it ran")))
        }
        Some(_) => Ok(()),
    }
}

fn checksum(sql: &str) -> String {
    hex::encode(Sha256::digest(sql.as_bytes()))
}
