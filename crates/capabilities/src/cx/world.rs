//! What a process lends to its runs.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use hmac::{Hmac, KeyInit as _, Mac as _};
use loom_domain::{Error, Principal, Result};
use loom_secrets::{CredentialRef, Kind, Redactor, Resolver, Secret};
use loom_transport::{CacheMode, Clock, Entropy, SystemClock, SystemEntropy, TraceContext, Transport};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;

use super::{Meter, Scratch};
use crate::{GateBook, PayloadStore, SendPath};

/// Makes the transport when the first request needs it; `origins` are base URLs that the owner set.
pub type Door = Arc<dyn Fn(&Meter, &[String]) -> Result<Transport> + Send + Sync>;
/// Reads the key of this installation when it is first needed.
pub type Key = Arc<dyn Fn() -> Result<[u8; 32]> + Send + Sync>;

/// Resolves references and reads the environment.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// One field of a credential; it is known to the redactor before it is given.
    async fn resolve(&self, reference: &CredentialRef, kind: Kind, field: &str) -> Result<Secret>;
    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;
}

/// What a process lends to its runs. Cheap to clone.
#[derive(Clone)]
pub struct World {
    /// The door out.
    pub door: Door,
    /// Counts what leaves.
    pub meter: Meter,
    /// Wall clock.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Masks what is shown and kept.
    pub redactor: Redactor,
    /// Credentials and environment.
    pub credentials: Arc<dyn Credentials>,
    /// Who asks.
    pub principal: Principal,
    /// Ids of the Turn, when there is one.
    pub trace: TraceContext,
    /// Ends every run.
    pub cancel: CancellationToken,
    /// Whether readiness may ask the network.
    pub network_checks: bool,
    /// How answers that were stored are used.
    pub cache: CacheMode,
    /// Values that live between runs.
    pub scratch: Scratch,
    /// The home, where there is one.
    pub home: Option<PathBuf>,
    /// Where payloads are kept, if they are.
    pub payloads: Option<PayloadStore>,
    /// Key of cursors and fingerprints.
    pub key: Key,
    /// The owner's approvals; without them nothing gated is written.
    pub gates: Option<Arc<dyn GateBook>>,
    /// The send path of a hub, where there is one.
    pub send_path: Option<Arc<dyn SendPath>>,
    /// Writes go to a mock, which needs no approval.
    pub(crate) rehearses: bool,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("principal", &self.principal).finish_non_exhaustive()
    }
}

impl World {
    /// An owner's world with that door, without credentials, environment or key.
    pub fn new(door: Door) -> Self {
        World {
            door,
            meter: Meter::default(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            redactor: Redactor::new(),
            credentials: Arc::new(Nothing),
            principal: Principal::Owner,
            trace: TraceContext::default(),
            cancel: CancellationToken::new(),
            network_checks: false,
            cache: CacheMode::default(),
            scratch: Scratch::default(),
            home: None,
            payloads: None,
            key: Arc::new(|| Err(Error::internal("this process has no key"))),
            gates: None,
            send_path: None,
            rehearses: false,
        }
    }

    /// The owner's world over the network, with the environment of this process. It keeps nothing.
    pub fn of_process() -> Self {
        let world = World::new(Arc::new(|meter, origins| {
            let builder = Transport::builder().log(meter.log());
            origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build()
        }));
        let resolver = Resolver::of_process(world.redactor.clone());
        world.with_credentials(resolver, |name| std::env::var(name).ok())
    }

    /// A world over a backend: what tests use.
    pub fn over(backend: Arc<dyn loom_transport::HttpBackend>) -> Self {
        World::new(Arc::new(move |meter, origins| {
            let builder = Transport::builder().backend(Arc::clone(&backend)).log(meter.log());
            origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build()
        }))
    }

    /// Lends the credentials of a resolver and an environment.
    pub fn with_credentials(
        self,
        resolver: Resolver,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with_resolver(Arc::new(resolver), environment)
    }

    /// The same with a resolver that others use too.
    pub fn with_resolver(
        mut self,
        resolver: Arc<Resolver>,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.credentials = Arc::new(Resolved { resolver, environment: Box::new(environment) });
        self
    }
}

struct Nothing;

#[async_trait]
impl Credentials for Nothing {
    async fn resolve(&self, reference: &CredentialRef, _: Kind, _: &str) -> Result<Secret> {
        Err(Error::new(
            loom_domain::Code::CredentialUnavailable,
            format!("{reference}: nothing is stored there"),
        ))
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

struct Resolved {
    resolver: Arc<Resolver>,
    environment: Environment,
}

#[async_trait]
impl Credentials for Resolved {
    async fn resolve(&self, reference: &CredentialRef, kind: Kind, field: &str) -> Result<Secret> {
        self.resolver.resolve_field(reference, kind, field).await
    }
    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }
}

/// The first 8 hex digits of a keyed digest: the only form of a secret that appears anywhere.
pub(crate) fn fingerprint(key: &[u8; 32], secret: &Secret) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(secret.expose().as_bytes());
    hex::encode(mac.finalize().into_bytes()).chars().take(8).collect()
}
