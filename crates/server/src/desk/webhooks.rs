//! Endpoints, deliveries to them, and what comes in.

use loom_api::{Page, query, request, view};
use loom_domain::Principal;
use loom_domain::webhook::{Delivery, Endpoint};
use loom_hub::{Hook, Taken};
use loom_store::ops::webhooks::{HookEvent, HookRefusal};

use super::{Intent, desk};

desk! {
    /// Webhooks.
    Webhooks {
        /// Lists endpoints.
        endpoints(principal: Principal) -> Page<Endpoint>;
        /// Adds or changes one.
        put_endpoint(intent: Intent, request: request::PutEndpoint) -> Endpoint;
        /// Reads one.
        endpoint(principal: Principal, name: String) -> Endpoint;
        /// Switches one.
        switch_endpoint(intent: Intent, name: String, enabled: bool) -> Endpoint;
        /// Removes one.
        remove_endpoint(intent: Intent, name: String) -> Endpoint;
        /// Lists what a route received.
        hook_events(principal: Principal, name: String, query: query::Paging) -> Page<HookEvent>;
        /// Lists what a route refused.
        hook_refusals(principal: Principal, name: String, query: query::Paging) -> Page<HookRefusal>;
        /// Lists deliveries.
        deliveries(principal: Principal, query: query::Deliveries) -> Page<Delivery>;
        /// Stores one.
        add_delivery(intent: Intent, request: request::Deliver) -> view::DeliveryEntry;
        /// Takes what another service sends.
        receive_hook(route: String, hook: Hook) -> Taken;
    }
}
