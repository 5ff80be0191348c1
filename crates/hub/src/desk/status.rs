//! The hub at a glance.

use std::path::Path;

use loom_api::view;
use loom_domain::{Result, connection::ConnectionState};

use crate::hub::{Hub, Phase};

impl Hub {
    /// Path of the hub's socket.
    pub fn socket(&self) -> &Path {
        &self.inner.parts.socket
    }

    /// Totals and state.
    pub async fn status(
        &self,
        listen: Vec<String>,
        started_at: loom_domain::Timestamp,
    ) -> Result<view::HubStatus> {
        let stats = self.store().stats().await?;
        let now = self.now();
        let fault = self.store().health().borrow().fault.clone();
        let phase = *self.inner.phase.borrow();
        let state = match (&fault, phase) {
            (Some(_), _) => "read_only",
            (None, Phase::Starting) => "starting",
            (None, Phase::Serving) => "serving",
            (None, Phase::Draining) => "draining",
            (None, Phase::Stopped) => "stopped",
        };
        Ok(view::HubStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state: state.to_owned(),
            node: Some(self.store().config().node.clone()),
            pid: Some(std::process::id()),
            started_at: Some(started_at),
            store: Some(match &self.store().config().url {
                loom_store::StoreUrl::Sqlite => "sqlite".to_owned(),
                loom_store::StoreUrl::Postgres(_) => "postgres".to_owned(),
            }),
            listen,
            agents: view::AgentTotals { total: stats.agents, running: stats.running, paused: stats.paused },
            connections: self.connection_totals().await?,
            inbox: view::InboxTotals {
                queued: of(&stats.inbox, "queued"),
                handling: of(&stats.inbox, "handling"),
                pending_access: of(&stats.inbox, "pending_access"),
                needs_decision: of(&stats.inbox, "needs_decision"),
                oldest_seconds: stats
                    .oldest_queued
                    .map(|at| u64::try_from(now.since_ms(at) / 1_000).unwrap_or(0)),
            },
            outbox: view::OutboxTotals {
                open: ["pending", "sending", "retry_wait"].map(|state| of(&stats.outbox, state)).iter().sum(),
                held: of(&stats.outbox, "held"),
                unknown: of(&stats.outbox, "unknown"),
                dead: stats.dead,
            },
            notices: stats.notices,
        })
    }

    async fn connection_totals(&self) -> Result<view::ConnectionTotals> {
        let mut totals = view::ConnectionTotals::default();
        for connection in self.store().all_connections().await? {
            if connection.archived_at.is_some() {
                continue;
            }
            totals.total += 1;
            match self.connection_health(&connection.id).state {
                ConnectionState::Connected => totals.connected += 1,
                ConnectionState::Degraded => totals.degraded += 1,
                ConnectionState::Connecting | ConnectionState::Disconnected => totals.down += 1,
                ConnectionState::Disabled => totals.disabled += 1,
            }
        }
        Ok(totals)
    }
}

fn of(counts: &[(String, u64)], state: &str) -> u64 {
    counts.iter().find(|(name, _)| name == state).map_or(0, |(_, count)| *count)
}
