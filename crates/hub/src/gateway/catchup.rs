//! After each registration: messages that came while nobody listened are read from history, oldest first, and
//! judged like any other. Dedupe and staleness decide; nothing is answered twice.

use std::sync::Arc;

use loom_channels::{HistoryQuery, Ingress as _};
use loom_domain::Principal;
use tokio_util::sync::CancellationToken;

use super::{ingress::HubIngress, monitor::HubMonitor, session::Holder};

const OFFER_MAX: usize = 50;

/// Catches up after every registration of the session.
pub(super) async fn run(holder: Holder, monitor: Arc<HubMonitor>, stop: CancellationToken) {
    let mut registrations = monitor.registrations();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = registrations.changed() => if changed.is_err() { return },
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = catch_up(&holder) => {}
        }
    }
}

/// Reads every conversation with an enabled Membership from its newest known message on.
pub(super) async fn catch_up(holder: &Holder) {
    let hub = &holder.hub;
    let conversations = match hub.store().known_conversations(holder.connection.id.clone()).await {
        Ok(conversations) => conversations,
        Err(error) => {
            tracing::warn!("catch-up could not start: {error}");
            return;
        }
    };
    let limits = &hub.config().connections;
    let oldest = hub.now().plus_ms(-limits.catchup_age_s.saturating_mul(1_000));
    for known in conversations {
        let Some(newest) = known.newest_message_id else { continue };
        let query = HistoryQuery {
            conversation_id: known.conversation_id.clone(),
            thread_id: None,
            after: Some(newest),
            since: Some(oldest),
            limit: limits.catchup_max,
        };
        match holder.channel.history(query).await {
            Ok(page) => {
                if page.truncated {
                    let text = format!(
                        "more messages were missed in {} than can be read back",
                        known.conversation_id
                    );
                    let _ = hub
                        .store()
                        .tell(
                            hub.act(Principal::Hub),
                            "backfill_truncated".to_owned(),
                            holder.connection.id.to_string(),
                            text,
                            format!("loom integration status {}", holder.connection.id),
                        )
                        .await;
                }
                offer(holder, page.messages.into_iter().filter(|m| !m.own).map(|m| m.event).collect()).await;
            }
            Err(fault) => tracing::debug!("history of a conversation cannot be read: {fault}"),
        }
    }
}

async fn offer(holder: &Holder, events: Vec<loom_domain::InboundEvent>) {
    let ingress = HubIngress::new(holder.clone());
    for batch in events.chunks(OFFER_MAX) {
        if ingress.offer(batch.to_vec()).await.is_err() {
            return;
        }
    }
}
