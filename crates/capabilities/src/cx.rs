//! What a run works with: the door out, who asks, the clock, cancellation; nothing else.

mod meter;
mod scratch;
mod world;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use loom_domain::{Code, Error, EventId, OperationId, Principal, Result, Timestamp};
use loom_secrets::{CredentialRef, Kind, Secret};
use loom_transport::{
    CacheKey, CacheMode, CredentialBinding, Hosts, Method, RequestBuilder, TraceContext, Transport,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use meter::Tally;
pub use meter::{Effects, Meter};
pub use scratch::Scratch;
pub(crate) use world::fingerprint;
pub use world::{Credentials, Door, Key, World};

use crate::gate::Permit;
use crate::{CatalogEntry, Effect, Operation, RunLimits, RunSettings};

/// Shortest deadline that a request can be given.
const DEADLINE_MIN: Duration = Duration::from_secs(1);

/// A credential that was found, with the place it came from.
#[derive(Debug, Clone)]
pub struct Found {
    /// The value.
    pub secret: Secret,
    /// `env:NAME`, `vault:NAME` or another reference: never the value.
    pub source: String,
}

impl Found {
    /// Binds it as a bearer token to exact `host:port` entries.
    pub fn bearer(&self, hosts: impl IntoIterator<Item = impl Into<String>>) -> CredentialBinding {
        CredentialBinding::bearer(self.secret.clone(), hosts)
    }
}

/// What one run works with.
pub struct Cx {
    world: World,
    run_id: OperationId,
    provider: String,
    operation: String,
    effect: Effect,
    hosts: Vec<crate::HostRule>,
    any_public_host: bool,
    settings: RunSettings,
    limits: RunLimits,
    deadline: Option<Instant>,
    transport: OnceLock<Transport>,
    tally: Arc<Tally>,
    credential: Mutex<Option<Value>>,
    permit: Option<Permit>,
}

impl std::fmt::Debug for Cx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx")
            .field("run_id", &self.run_id)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}

impl Cx {
    /// What a run of an operation works with.
    pub fn new(
        world: &World,
        entry: &CatalogEntry,
        operation: &Operation,
        settings: &RunSettings,
        limits: RunLimits,
    ) -> Self {
        let deadline = limits.deadline_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        Cx {
            run_id: OperationId::new(world.clock.now().0, world.entropy.bits()),
            world: world.clone(),
            provider: entry.provider.clone(),
            operation: operation.id.clone(),
            effect: operation.effect,
            hosts: entry.hosts.clone(),
            any_public_host: entry.any_public_host,
            settings: settings.clone(),
            limits,
            deadline,
            transport: OnceLock::new(),
            tally: Arc::default(),
            credential: Mutex::new(None),
            permit: None,
        }
    }

    /// Lets the run write what its gate was used for.
    pub(crate) fn permitted(mut self, permit: Option<Permit>) -> Self {
        self.permit = permit;
        self
    }

    /// What the run may write, if a gate was used for it.
    pub(crate) fn permit(&self) -> Option<&Permit> {
        self.permit.as_ref()
    }

    /// Starts a request with the run's ids, hosts and limits. A write counts as one unless its method only reads.
    pub fn request(&self, method: Method, url: &str) -> Result<RequestBuilder> {
        let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&method);
        let effect = if reads { Effect::Read } else { self.effect };
        self.request_as(effect, method, url)
    }

    /// Starts a request that only reads, whatever its method: a token exchange, a query.
    pub fn read_request(&self, method: Method, url: &str) -> Result<RequestBuilder> {
        self.request_as(Effect::Read, method, url)
    }

    /// Starts a request that counts as a write, whatever the operation says of itself.
    pub(crate) fn write_request(&self, method: Method, url: &str) -> Result<RequestBuilder> {
        self.request_as(Effect::Write, method, url)
    }

    fn request_as(&self, effect: Effect, method: Method, url: &str) -> Result<RequestBuilder> {
        self.check_method(&method, url)?;
        let request_id = EventId::new(self.now().0, self.world.entropy.bits()).to_string();
        self.world.meter.watch(&request_id, effect, &self.tally);
        let mut builder = self
            .transport()?
            .request(method, url)
            .context(TraceContext { request_id: Some(request_id), ..self.trace() })
            .provider(&self.provider)
            .operation(&self.operation)
            .hosts(self.allowed_hosts());
        if let Some(limit) = self.limits.timeout() {
            builder = builder.timeout(limit);
        }
        if let Some(left) = self.time_left() {
            builder = builder.deadline(left.max(DEADLINE_MIN));
        }
        Ok(builder)
    }

    /// A place in the conditional cache, used as the run was told to.
    pub fn cache_key(&self) -> CacheKey {
        CacheKey { mode: self.world.cache, ..CacheKey::default() }
    }

    /// Whether what was stored may stand in for an answer for a while without being asked about.
    pub fn reads_stored(&self) -> bool {
        self.world.cache == CacheMode::Use
    }

    /// The door itself, for what [`Cx::request`] does not offer.
    pub fn transport(&self) -> Result<&Transport> {
        if self.transport.get().is_none() {
            let origins: Vec<String> = self.settings.api_url.iter().cloned().collect();
            let made = (self.world.door)(&self.world.meter, &origins)?;
            let _ = self.transport.set(made);
        }
        self.transport.get().ok_or_else(|| Error::internal("the transport was not kept"))
    }

    /// The credential that the owner named for this entry's credential, if any.
    pub async fn credential(&self, name: &str, kind: Kind, field: &str) -> Result<Option<Found>> {
        match self.settings.credential_refs.get(name) {
            Some(reference) => self.resolve(reference, kind, field).await.map(Some),
            None => Ok(None),
        }
    }

    /// The token in an environment variable, if it is set. Bind it to the provider's own host only.
    pub async fn credential_variable(&self, name: &str, kind: Kind) -> Result<Option<Found>> {
        if self.variable(name).is_none() {
            return Ok(None);
        }
        self.resolve(&CredentialRef::Env(name.to_owned()), kind, kind.main_field()).await.map(Some)
    }

    /// Whether the owner named a credential for this entry's credential.
    pub(crate) fn names_credential(&self, name: &str) -> bool {
        self.settings.credential_refs.contains_key(name)
    }

    async fn resolve(&self, reference: &CredentialRef, kind: Kind, field: &str) -> Result<Found> {
        let secret = self.world.credentials.resolve(reference, kind, field).await?;
        Ok(self.found(secret, &reference.to_string()))
    }

    /// Adopts a secret that came another way, such as from a provider's own program.
    pub fn found(&self, secret: Secret, source: &str) -> Found {
        self.world.redactor.register(&secret);
        let fingerprint = (self.world.key)().ok().map(|key| world::fingerprint(&key, &secret));
        let shown = json!({"source": source, "fingerprint": fingerprint});
        *self.credential.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        Found { secret, source: source.to_owned() }
    }

    /// A variable of the environment that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.world.credentials.variable(name)
    }

    /// The base URL: the owner's own, else the public one; without a slash at its end.
    pub fn api_base(&self, public: &str) -> String {
        self.settings.api_url.as_deref().unwrap_or(public).trim_end_matches('/').to_owned()
    }

    /// Id of the run.
    pub fn run_id(&self) -> &OperationId {
        &self.run_id
    }

    /// Who asks.
    pub fn principal(&self) -> &Principal {
        &self.world.principal
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.world.clock.now()
    }

    /// The ids that requests carry.
    pub fn trace(&self) -> TraceContext {
        self.world.trace.clone()
    }

    /// Limits of the run.
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Whether readiness may ask the network.
    pub fn network_checks(&self) -> bool {
        self.world.network_checks
    }

    /// The home, where a capability keeps state of its own in a folder of its own.
    pub fn home(&self) -> Result<&Path> {
        self.world.home.as_deref().ok_or_else(|| {
            Error::new(Code::NotReady, "this process has no home to keep state in")
                .with_hint("set a home, or name a file of your own")
        })
    }

    /// A small store that lives as long as the world.
    pub fn scratch(&self) -> &Scratch {
        &self.world.scratch
    }

    /// Ends when the run is to end. Start nothing new then.
    pub async fn cancelled(&self) {
        self.world.cancel.cancelled().await;
    }

    /// Whether the run is to end.
    pub fn is_cancelled(&self) -> bool {
        self.world.cancel.is_cancelled()
    }

    /// What the run did so far, counted.
    pub fn effects(&self) -> Effects {
        self.tally.effects()
    }

    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.world.cancel
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn used_credential(&self) -> Option<Value> {
        self.credential.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The base URL as provenance shows it.
    pub(crate) fn shown_base(&self) -> Option<String> {
        let public = self.hosts.first().map(|rule| format!("https://{}", rule.host));
        self.settings.api_url.clone().or(public)
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn allowed_hosts(&self) -> Hosts {
        let own = self.settings.api_url.as_deref().and_then(crate::plan::authority);
        match (self.any_public_host, own) {
            (true, None) => Hosts::AnyPublic,
            (_, Some(own)) => Hosts::Only(vec![own]),
            (false, None) => {
                Hosts::Only(self.hosts.iter().map(|rule| format!("{}:{}", rule.host, rule.port)).collect())
            }
        }
    }

    fn check_method(&self, method: &Method, url: &str) -> Result<()> {
        let host = crate::plan::authority(url);
        let rule = self.hosts.iter().find(|rule| Some(format!("{}:{}", rule.host, rule.port)) == host);
        if rule.is_none_or(|rule| rule.methods.iter().any(|one| one == method.as_str())) {
            return Ok(());
        }
        Err(Error::new(Code::EgressDenied, format!("{method} is not a declared method of this host"))
            .with_detail("reason", "method_not_allowed"))
    }
}
