//! Building a transport: everything it needs of the world comes in here.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use loom_domain::Result;

use super::{Core, Redact, Transport};
use crate::backend::real::RealBackend;
use crate::backend::{HttpBackend, RecordedBackend, Subject};
use crate::cache::{Memory, ProjectionStore};
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::dial::{Dialer, tls};
use crate::dns::{Resolve, SystemResolver};
use crate::egress::{Cidr, Origin, Policy};
use crate::limiter::Limiter;
use crate::log::{NoLog, RequestLog};
use crate::proxy::ProxySetting;
use crate::retry::budget::Budget;
use crate::settings::Settings;

/// Builds a [`Transport`]. Defaults: system clock, randomness and resolver, no proxy, no log, no local origin.
pub struct TransportBuilder {
    settings: Settings,
    policy: Policy,
    origins: Vec<String>,
    private: Vec<String>,
    backend: Option<Arc<dyn HttpBackend>>,
    cassette: Option<(PathBuf, Subject)>,
    resolver: Arc<dyn Resolve>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    log: Arc<dyn RequestLog>,
    proxy: ProxySetting,
    shared_dir: Option<PathBuf>,
    projections: Option<Arc<dyn ProjectionStore>>,
    ca_file: Option<PathBuf>,
    key: Option<[u8; 32]>,
    redact: Redact,
    trace_hosts: BTreeSet<String>,
    trace_off_hosts: BTreeSet<String>,
}

impl Default for TransportBuilder {
    fn default() -> Self {
        TransportBuilder {
            settings: Settings::default(),
            policy: Policy::default(),
            origins: Vec::new(),
            private: Vec::new(),
            backend: None,
            cassette: None,
            resolver: Arc::new(SystemResolver),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            log: Arc::new(NoLog),
            proxy: ProxySetting::none(),
            shared_dir: None,
            projections: None,
            ca_file: None,
            key: None,
            redact: Arc::new(str::to_owned),
            trace_hosts: BTreeSet::new(),
            trace_off_hosts: BTreeSet::new(),
        }
    }
}

impl fmt::Debug for TransportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl TransportBuilder {
    /// Sets limits, attempts and caps.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Allows a base URL that the owner set: loopback with http or https, private only inside `allow_private`.
    pub fn local_origin(mut self, base_url: &str) -> Self {
        self.origins.push(base_url.to_owned());
        self
    }

    /// Allows plain http to local origins that are not loopback.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.policy.allow_http = allow;
        self
    }

    /// Allows an address range to local origins.
    pub fn allow_private(mut self, cidr: &str) -> Self {
        self.private.push(cidr.to_owned());
        self
    }

    /// Uses another backend than the network.
    pub fn backend(mut self, backend: Arc<dyn HttpBackend>) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Records every answer of the backend into a new cassette, redacted as the log is; `subject` says what about.
    pub fn record(mut self, cassette: PathBuf, subject: Subject) -> Self {
        self.cassette = Some((cassette, subject));
        self
    }

    /// Uses another resolver than the system's.
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Uses another wall clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Uses another source of ids and jitter.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// Logs every attempt there.
    pub fn log(mut self, log: Arc<dyn RequestLog>) -> Self {
        self.log = log;
        self
    }

    /// Sets the proxies.
    pub fn proxy(mut self, proxy: ProxySetting) -> Self {
        self.proxy = proxy;
        self
    }

    /// Shares the SEC's window with all processes that name the same directory: that of the data root.
    pub fn shared_rates(mut self, dir: PathBuf) -> Self {
        self.shared_dir = Some(dir);
        self
    }

    /// Keeps projections there, so that later processes can ask conditionally.
    pub fn projections(mut self, store: Arc<dyn ProjectionStore>) -> Self {
        self.projections = Some(store);
        self
    }

    /// Asks for everything anew: what stands alone must not answer with what an earlier process kept.
    pub fn no_projections(mut self) -> Self {
        self.projections = None;
        self
    }

    /// Trusts the certificates of a PEM file besides the public ones.
    pub fn ca_file(mut self, path: PathBuf) -> Self {
        self.ca_file = Some(path);
        self
    }

    /// Sets the key of this installation: fingerprints and outer trace ids.
    pub fn installation_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Redacts path segments before they are logged.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redact = Arc::new(redact);
        self
    }

    /// Shows a host all tracing headers.
    pub fn trace_host(mut self, host: &str) -> Self {
        self.trace_hosts.insert(host.to_ascii_lowercase());
        self
    }

    /// Shows a host no tracing header.
    pub fn trace_off_host(mut self, host: &str) -> Self {
        self.trace_off_hosts.insert(host.to_ascii_lowercase());
        self
    }

    /// Checks the settings and builds.
    pub fn build(mut self) -> Result<Transport> {
        self.settings.check()?;
        self.policy.local_origins =
            self.origins.iter().map(|o| o.parse::<Origin>()).collect::<Result<_>>()?;
        self.policy.allow_private = self.private.iter().map(|c| c.parse::<Cidr>()).collect::<Result<_>>()?;
        let dialer =
            Dialer { tls: tls::config(self.ca_file.as_deref())?, resolver: Arc::clone(&self.resolver) };
        let mut backend = self.backend.unwrap_or_else(|| Arc::new(RealBackend::new(dialer.clone())));
        if let Some((path, subject)) = self.cassette {
            let redact = Arc::clone(&self.redact);
            let recording = RecordedBackend::record(&path, backend, move |text| redact(text))?;
            backend = Arc::new(recording.about(subject));
        }
        let core = Core {
            settings: self.settings,
            policy: self.policy,
            backend,
            dialer,
            resolver: self.resolver,
            clock: Arc::clone(&self.clock),
            key: self.key.unwrap_or_else(|| random_key(&*self.entropy)),
            entropy: self.entropy,
            log: self.log,
            limiter: Limiter::new(self.shared_dir.as_deref(), self.clock),
            budget: Budget::default(),
            proxy: self.proxy,
            redact: self.redact,
            memory: Memory::default(),
            projections: self.projections,
            trace_hosts: self.trace_hosts,
            trace_off_hosts: self.trace_off_hosts,
        };
        Ok(Transport { core: Arc::new(core) })
    }
}

fn random_key(entropy: &dyn Entropy) -> [u8; 32] {
    let mut key = [0; 32];
    for half in key.chunks_mut(16) {
        half.copy_from_slice(&entropy.bits().to_le_bytes());
    }
    key
}
