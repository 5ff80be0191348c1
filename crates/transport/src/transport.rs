//! The transport and its builder.

mod builder;

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use loom_domain::Result;

use crate::backend::HttpBackend;
use crate::cache::{self, Memory, ProjectionStore};
use crate::clock::{Clock, Entropy};
use crate::dial::Dialer;
use crate::dns::{ADDRESSES_MAX, Resolve};
use crate::egress::{Policy, Target};
use crate::fault::{NetworkFault, Phase};
use crate::limiter::Limiter;
use crate::log::RequestLog;
use crate::proxy::ProxySetting;
use crate::request::RequestBuilder;
use crate::response::Response;
use crate::retry::budget::Budget;
use crate::settings::Settings;
use crate::trace::Exposure;

pub use builder::TransportBuilder;

/// Rewrites a text so that no secret stays in it.
pub(crate) type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) policy: Policy,
    pub(crate) backend: Arc<dyn HttpBackend>,
    pub(crate) dialer: Dialer,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) log: Arc<dyn RequestLog>,
    pub(crate) limiter: Limiter,
    pub(crate) budget: Budget,
    pub(crate) proxy: ProxySetting,
    pub(crate) key: [u8; 32],
    pub(crate) redact: Redact,
    pub(crate) memory: Memory,
    pub(crate) projections: Option<Arc<dyn ProjectionStore>>,
    pub(crate) trace_hosts: BTreeSet<String>,
    pub(crate) trace_off_hosts: BTreeSet<String>,
}

/// The one door out. Cheap to clone; clones share pools, limiters and budgets.
#[derive(Clone)]
pub struct Transport {
    core: Arc<Core>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("backend", &self.core.backend).finish_non_exhaustive()
    }
}

impl Transport {
    /// Starts a transport.
    pub fn builder() -> TransportBuilder {
        TransportBuilder::default()
    }

    /// Starts a request.
    pub fn request(&self, method: Method, url: &str) -> RequestBuilder {
        RequestBuilder::new(self.clone(), method, url)
    }

    /// Starts a GET.
    pub fn get(&self, url: &str) -> RequestBuilder {
        self.request(Method::GET, url)
    }

    /// Starts a POST.
    pub fn post(&self, url: &str) -> RequestBuilder {
        self.request(Method::POST, url)
    }

    /// Keeps the projected and redacted result of an answer to a request with [`RequestBuilder::cache`], so that a
    /// later process can ask whether it still holds. Does nothing for answers that may not be kept.
    pub fn remember(&self, response: &Response, projection: &serde_json::Value) {
        cache::remember(&self.core, response, projection);
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.core.settings
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }
}

/// Why a target has no usable addresses.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// The policy refused them.
    Refused(loom_domain::Error),
    /// The name did not resolve.
    Fault(NetworkFault),
}

impl Core {
    /// Asks for the addresses once and checks every one of them.
    pub(crate) async fn addresses(
        &self,
        target: &Target,
        limit: Duration,
    ) -> Result<Vec<IpAddr>, Unresolved> {
        let found = match target.literal {
            Some(ip) => vec![ip],
            None => self.resolve(&target.host, limit).await.map_err(Unresolved::Fault)?,
        };
        self.policy.check_addresses(target, &found).map_err(Unresolved::Refused)?;
        Ok(found)
    }

    async fn resolve(&self, host: &str, limit: Duration) -> Result<Vec<IpAddr>, NetworkFault> {
        let asked = tokio::time::timeout(limit, self.resolver.resolve(host)).await;
        let unresolved = |why| Err(NetworkFault::network(Phase::Dns, why));
        match asked {
            Err(_) => unresolved("the name was not resolved in time"),
            Ok(Err(_)) => unresolved("the name does not resolve"),
            Ok(Ok(found)) if found.is_empty() => unresolved("the name has no address"),
            Ok(Ok(found)) if found.len() > ADDRESSES_MAX => unresolved("the name has too many addresses"),
            Ok(Ok(found)) => Ok(found),
        }
    }

    pub(crate) fn exposure(&self, target: &Target) -> Exposure {
        if self.trace_off_hosts.contains(&target.host) {
            Exposure::Off
        } else if (target.local && target.is_loopback()) || self.trace_hosts.contains(&target.host) {
            Exposure::Full
        } else {
            Exposure::Outer
        }
    }
}
