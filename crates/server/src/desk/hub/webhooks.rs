//! Webhooks of a hub.

use async_trait::async_trait;
use loom_api::{Page, query, request, view};
use loom_domain::webhook::{Delivery, Endpoint};
use loom_domain::{Error, Principal};
use loom_hub::{Hook, Taken};
use loom_store::ops::webhooks::{HookEvent, HookRefusal};

use super::HubDesk;
use crate::desk::{Intent, Webhooks};

#[async_trait]
impl Webhooks for HubDesk {
    async fn endpoints(&self, _: Principal) -> Result<Page<Endpoint>, Error> {
        self.hub.store().endpoints().await
    }
    async fn put_endpoint(&self, intent: Intent, request: request::PutEndpoint) -> Result<Endpoint, Error> {
        self.hub.put_endpoint(self.real(intent)?.principal, request).await
    }
    async fn endpoint(&self, _: Principal, name: String) -> Result<Endpoint, Error> {
        self.hub.store().endpoint(name).await
    }
    async fn switch_endpoint(&self, intent: Intent, name: String, enabled: bool) -> Result<Endpoint, Error> {
        self.hub.store().switch_endpoint(self.real(intent)?, name, enabled).await
    }
    async fn remove_endpoint(&self, intent: Intent, name: String) -> Result<Endpoint, Error> {
        self.hub.store().remove_endpoint(self.real(intent)?, name).await
    }
    async fn hook_events(
        &self,
        _: Principal,
        name: String,
        query: query::Paging,
    ) -> Result<Page<HookEvent>, Error> {
        self.hub.store().hook_events(name, query).await
    }
    async fn hook_refusals(
        &self,
        _: Principal,
        name: String,
        query: query::Paging,
    ) -> Result<Page<HookRefusal>, Error> {
        self.hub.store().hook_refusals(name, query).await
    }
    async fn deliveries(&self, _: Principal, query: query::Deliveries) -> Result<Page<Delivery>, Error> {
        self.hub.deliveries(query).await
    }
    async fn add_delivery(
        &self,
        intent: Intent,
        request: request::Deliver,
    ) -> Result<view::DeliveryEntry, Error> {
        self.hub.add_delivery(self.real(intent)?.principal, request).await
    }
    async fn receive_hook(&self, route: String, hook: Hook) -> Result<Taken, Error> {
        self.hub.receive_hook(route, hook).await
    }
}
