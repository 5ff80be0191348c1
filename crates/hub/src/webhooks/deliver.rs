//! One attempt of one delivery.

use loom_capabilities::http_webhook::deliver::{Message, attempt, own_origins, secrets};
use loom_domain::webhook::{Delivery, Endpoint, Tried};
use loom_domain::{Principal, Result};
use loom_secrets::{Kind, Secret};

use crate::hub::Hub;

impl Hub {
    /// Makes one attempt, and writes down what it came to.
    pub(super) async fn deliver(&self, delivery: Delivery, endpoint: Endpoint) {
        let (id, attempt) = (delivery.id.clone(), delivery.attempts);
        let tried = match self.tried(&delivery, &endpoint).await {
            Ok(tried) => tried,
            Err(error) => Tried { error: Some(error.code), ..Tried::default() },
        };
        let act = self.act(Principal::Hub);
        #[expect(clippy::cast_precision_loss, reason = "only its size matters")]
        let jitter = (act.entropy)() as f64 / u128::MAX as f64;
        if let Err(error) = self.store().end_attempt(act, (id.clone(), attempt), tried, jitter).await {
            tracing::warn!("the end of an attempt of {id} was not stored: {error}");
        }
    }

    async fn tried(&self, delivery: &Delivery, endpoint: &Endpoint) -> Result<Tried> {
        let secrets = self.secrets(endpoint).await?;
        let world = &self.inner.parts.lent.world;
        let transport = (world.door)(&world.meter, &own_origins(&endpoint.url))?;
        let message = Message { body: delivery.body.clone(), headers: delivery.headers.clone() };
        attempt(&transport, self.redactor(), &endpoint.url, &delivery.id, &message, &secrets, self.now())
            .await
    }

    /// The secrets of an endpoint that count now.
    pub(super) async fn secrets(&self, endpoint: &Endpoint) -> Result<Vec<Secret>> {
        let resolver = &self.inner.parts.resolver;
        secrets(endpoint, self.now(), |reference| async move {
            resolver.resolve_field(&reference, Kind::Webhook, Kind::Webhook.main_field()).await
        })
        .await
    }
}
