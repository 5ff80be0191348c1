//! Health of Connections in the words of the API: the board's facts with the store's figures.

use loom_api::view;
use loom_domain::{ConnectionId, Result};

use crate::hub::Hub;

impl Hub {
    /// Full health of a Connection.
    pub async fn health_view(&self, id: &ConnectionId) -> Result<view::Health> {
        let connection = self.store().connection(id.clone()).await?;
        let live = self.connection_health(id);
        let now = self.now();
        let load = self.store().connection_stats(id.clone()).await?;
        let age = |at: Option<loom_domain::Timestamp>| {
            at.map(|at| u64::try_from(now.since_ms(at) / 1_000).unwrap_or(0))
        };
        Ok(view::Health {
            state: live.state,
            reason: live.reason,
            since: live.since,
            down_since: live.down_since,
            proved_alive_at: live.proved_alive_at,
            proved_alive_seconds_ago: live.proved_alive_seconds_ago,
            proof: live.proof,
            last_event_at: live.last_event_at.or(load.last_event),
            last_accepted_at: live.last_accepted_at.or(load.last_accepted),
            last_dispatched_at: None,
            last_sent_at: live.last_sent_at.or(load.last_sent),
            oldest_queued_seconds: age(load.oldest_queued),
            oldest_outbox_seconds: age(load.oldest_outbox),
            pending: load.pending,
            unknown: load.unknown,
            spool: view::Spool::default(),
            session: live.fence.zip(live.session_started_at).map(|(fence, started_at)| view::Session {
                fence,
                node: self.store().config().node.clone(),
                mode: connection.gateway_mode,
                started_at,
                restarts: live.restarts,
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            reconnect: live
                .next_attempt_at
                .map(|next_at| view::Reconnect { attempt: live.attempt, next_at: Some(next_at) }),
            rate_limit: live
                .rate_limited_until
                .map(|until| view::RateLimit { scope: "connection".to_owned(), until }),
            scopes: view::ScopeEvidence { have: live.scopes, missing: live.missing_scopes },
            capabilities: view::CapabilityEvidence { declared: connection.capabilities, proven: Vec::new() },
            last_error: live.last_error,
            last_error_resolved_at: live.last_error_resolved_at,
        })
    }
}
