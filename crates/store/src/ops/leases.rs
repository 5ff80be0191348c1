//! Leases with fence numbers: who may act for a Connection, an Agent or the scheduler.

use loom_domain::{Code, Error, Result, Timestamp};

use crate::{Act, Store, Tx, params};

/// A lease that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What it is for, such as `agent:agt_…`.
    pub name: String,
    /// +1 at each grant to a new holder.
    pub fence: u64,
    /// End, by the clock that counts (the database's, where it has one).
    pub expires_at: Timestamp,
}

impl Store {
    /// Takes or renews a lease. Held by another node: `locked` naming the holder and the end.
    /// A holder's renewal keeps its fence; a grant after expiry or to another node has the next one.
    pub async fn lease(&self, act: Act, name: String, ttl_ms: i64, held: Option<u64>) -> Result<Lease> {
        self.write(act, move |unit| {
            let now = clock(unit.tx, unit.now)?;
            let sql = format!(
                "SELECT node, fence, expires_at FROM leases WHERE name = ?1{}",
                unit.tx.dialect().for_update()
            );
            let row = unit.tx.first(&sql, &params![name.as_str()])?;
            let expires_at = now.plus_ms(ttl_ms);
            let Some(row) = row else {
                return grant(unit.tx, &name, unit.node, 1, expires_at);
            };
            let (holder, fence, ends) = (row.text(0).to_owned(), row.uint(1), Timestamp(row.int(2)));
            let is_mine = holder == unit.node && held == Some(fence);
            if is_mine {
                return grant(unit.tx, &name, unit.node, fence, expires_at);
            }
            if held.is_some() {
                return Err(Error::new(
                    Code::LeaseLost,
                    format!("{name} was granted anew; its fence is {fence}"),
                ));
            }
            if ends > now && holder != unit.node {
                return Err(Error::new(Code::Locked, format!("{name} is held by {holder} until {ends}"))
                    .with_detail("holder", holder)
                    .with_detail("expires_at", ends.to_string()));
            }
            grant(unit.tx, &name, unit.node, fence + 1, expires_at)
        })
        .await
    }

    /// Gives a lease back at once.
    pub async fn release_lease(&self, act: Act, name: String, fence: u64) -> Result<()> {
        self.write(act, move |unit| {
            unit.tx.execute(
                "UPDATE leases SET expires_at = 0 WHERE name = ?1 AND node = ?2 AND fence = ?3",
                &params![name.as_str(), unit.node, fence],
            )?;
            Ok(())
        })
        .await
    }
}

fn grant(tx: &mut dyn Tx, name: &str, node: &str, fence: u64, expires_at: Timestamp) -> Result<Lease> {
    tx.execute(
        "INSERT INTO leases (name, node, fence, expires_at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (name) DO UPDATE SET node = excluded.node, fence = excluded.fence, expires_at = excluded.expires_at",
        &params![name, node, fence, expires_at],
    )?;
    Ok(Lease { name: name.to_owned(), fence, expires_at })
}

/// The clock that leases are measured by.
fn clock(tx: &mut dyn Tx, callers: Timestamp) -> Result<Timestamp> {
    match tx.dialect().clock() {
        Some(sql) => Ok(Timestamp(tx.number(sql, &[])?)),
        None => Ok(callers),
    }
}

/// Fails with `lease_lost` unless the fence is the newest of the lease.
pub(crate) fn check(tx: &mut dyn Tx, name: &str, fence: u64) -> Result<()> {
    let newest =
        tx.first("SELECT fence FROM leases WHERE name = ?1", &params![name])?.map_or(0, |row| row.uint(0));
    if newest == fence {
        return Ok(());
    }
    Err(Error::new(Code::LeaseLost, format!("the fence {fence} of {name} is old; the newest is {newest}")))
}
