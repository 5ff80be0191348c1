//! Takes events from a channel: they are on disk, judged, before the platform is told.

use async_trait::async_trait;
use loom_channels::{Ingress, IngressFault, Judged};
use loom_domain::{Code, InboundEvent, Principal, decision::Limits};
use loom_secrets::Profile;
use loom_store::ops::inbound::Offer;

use super::session::Holder;
use crate::hub::{Hub, Phase};

/// Stands for a text that cannot be shown without a secret.
const WITHHELD: &str = "[withheld]";

/// Suggested wait when the store does not take events.
const RETRY_MS: u64 = 1_000;

/// The hub's side of a session.
pub(super) struct HubIngress {
    holder: Holder,
}

impl HubIngress {
    pub(super) fn new(holder: Holder) -> Self {
        HubIngress { holder }
    }
}

#[async_trait]
impl Ingress for HubIngress {
    async fn offer(&self, events: Vec<InboundEvent>) -> Result<Vec<Judged>, IngressFault> {
        let hub = &self.holder.hub;
        if *hub.inner.phase.borrow() == Phase::Stopped {
            return Err(IngressFault::LeaseLost);
        }
        let started = tokio::time::Instant::now();
        let events = events.into_iter().map(|event| without_secrets(hub, event)).collect();
        let offer = offer_of(&self.holder);
        let act = hub.act(Principal::Connector(self.holder.connection.id.clone()));
        let judged =
            hub.store().record_inbound(act, offer, events).await.map_err(|error| match error.code {
                Code::LeaseLost => IngressFault::LeaseLost,
                _ => {
                    tracing::warn!("events were not taken: {error}");
                    IngressFault::Retry { after_ms: RETRY_MS }
                }
            })?;
        hub.inner.metrics.accepted(&self.holder.connection.provider, started.elapsed(), &judged);
        hub.inner.board.event_seen(&self.holder.connection.id, hub.now(), &judged);
        Ok(judged
            .into_iter()
            .map(|j| Judged {
                event_id: j.event_id,
                decision: j.decision,
                reason: j.reason,
                item_id: j.item_id,
                message_id: j.message_id,
            })
            .collect())
    }
}

/// The event as it may be stored: whoever wrote one of our own secrets into it, it is not kept.
fn without_secrets(hub: &Hub, event: InboundEvent) -> InboundEvent {
    let Ok(mut value) = serde_json::to_value(&event) else { return event };
    if !hub.redactor().holds_exact(value.to_string()) {
        return event;
    }
    hub.redactor().redact_json(&mut value, Profile::Store);
    serde_json::from_value(value).unwrap_or_else(|_| {
        let mut bare = event;
        WITHHELD.clone_into(&mut bare.content.text);
        bare.content.attachments.clear();
        (bare.thread_context, bare.raw) = (None, serde_json::Value::Null);
        bare
    })
}

/// What events of this session are judged with.
pub(super) fn offer_of(holder: &Holder) -> Offer {
    Offer {
        connection_id: holder.connection.id.clone(),
        fence: Some(holder.fence),
        own_ids: holder.identity.own_ids.clone(),
        limits: Limits { max_age_ms: holder.hub.config().inbound.max_age_s.saturating_mul(1_000) },
    }
}
