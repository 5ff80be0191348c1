//! The hub at a glance.

use loom_api::view;
use loom_domain::{Result, connection::ConnectionState};

use crate::hub::{Hub, Phase};

impl Hub {
    /// Totals and state.
    pub async fn status(&self, listen: Vec<String>, started_at: loom_domain::Timestamp) -> Result<view::HubStatus> {
        let totals = self.store().totals(self.now()).await?;
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
            connections: self.connection_totals().await?,
            ..totals
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
