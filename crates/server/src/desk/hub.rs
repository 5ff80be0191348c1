//! The desk of a running hub: each method is one call of the hub or its store.

mod adapters;
mod artifacts;
mod calls;
mod draft;
mod duty;
mod integration;
pub(crate) mod live;
mod loops;
mod records;
mod reports;
mod schedules;
pub(crate) mod tokens;
mod turns;
mod webhooks;
mod work;

use std::sync::Arc;

use loom_domain::{Principal, Timestamp};
use loom_hub::Hub;
use loom_store::Act;

use super::Intent;
use crate::peer::parent_of;
use crate::{Doors, Metrics, MetricsSource};

/// Providers beside the built-in ones; nothing installs any yet.
const INSTALLED: Vec<String> = Vec::new();

/// A hub as the routes see it.
#[derive(Debug, Clone)]
pub(crate) struct HubDesk {
    hub: Hub,
    started_at: Timestamp,
}

/// The doors to a running hub.
pub fn doors(hub: &Hub) -> Doors {
    let desk = Arc::new(HubDesk { hub: hub.clone(), started_at: hub.now() });
    let (clock, own_pid) = (hub.clone(), std::process::id());
    let redactor = hub.redactor().clone();
    let figures = hub.clone();
    let counters: Arc<dyn MetricsSource> = Arc::new(Counters(hub.clone()));
    Doors {
        desk: desk.clone(),
        tokens: desk.clone(),
        readiness: desk,
        status: Arc::new(crate::Figures::new(
            hub.home().root().to_owned(),
            crate::HomeStore::of(hub.store().clone()),
            crate::Live::Here(hub.clone()),
            Arc::new(move || figures.now()),
        )),
        events: Arc::new(live::HubEvents::new(hub.clone())),
        clock: Arc::new(move || clock.now()),
        // Runtimes are the only processes that a hub starts.
        is_runtime_child: Arc::new(move |pid| parent_of(pid) == Some(own_pid)),
        holds_secret: Arc::new(move |bytes| redactor.holds_exact(bytes)),
        metrics: Arc::new(Metrics::new(env!("CARGO_PKG_VERSION"), vec![counters])),
    }
}

struct Counters(Hub);

impl MetricsSource for Counters {
    fn text(&self) -> String {
        self.0.metrics().text()
    }
}

impl HubDesk {
    fn act(&self, principal: Principal) -> Act {
        self.hub.act(principal)
    }

    fn meant(&self, intent: Intent) -> (Act, bool) {
        (self.hub.act(intent.principal), intent.dry_run)
    }

    /// Where the hub was told to listen.
    fn listens(&self) -> Vec<String> {
        let listen = &self.hub.config().listen;
        let scheme = if listen.tls.is_some() { "https" } else { "http" };
        let address = Some(&listen.address).filter(|address| !address.is_empty());
        let socket = format!("unix:{}", self.hub.socket().display());
        std::iter::once(socket).chain(address.map(|address| format!("{scheme}://{address}"))).collect()
    }

    fn trust_groups(&self) -> Vec<Vec<String>> {
        self.hub.config().trust.groups.clone()
    }
}
