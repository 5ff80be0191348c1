//! Webhooks: the owner's endpoints, deliveries to them, and what comes in by them.

mod ended;
mod endpoints;
mod inbound;
mod queue;

use loom_domain::webhook::{Delivery, Endpoint};

use crate::{docs::Doc, tx::Value};

#[cfg(test)]
pub(crate) use ended::ENDED_MAX;
pub use endpoints::EndpointChange;
pub use inbound::{HookEvent, HookRefusal, NewHook, Recorded};
pub use queue::NewDelivery;

impl Doc for Endpoint {
    const TABLE: &'static str = "webhook_endpoints";
    const KIND: &'static str = "endpoint";
    fn id(&self) -> &str {
        &self.name
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![("seq", self.seq.into()), ("enabled", self.enabled.into())]
    }
}

impl Doc for Delivery {
    const TABLE: &'static str = "webhook_deliveries";
    const KIND: &'static str = "delivery";
    fn id(&self) -> &str {
        &self.id
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("endpoint", self.endpoint.as_str().into()),
            ("state", self.state.as_str().into()),
            ("due_at", self.due_at.into()),
            ("created_at", self.created_at.into()),
        ]
    }
}
