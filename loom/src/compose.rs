//! Puts a hub together: configuration, store, credentials, channels, tasks, and the listeners in front.

mod channels;
mod logs;
pub(crate) mod outbound;
mod random;
mod send_path;
pub(crate) mod watch;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use loom_hub::{Clock, Config, Hub, Parts, SystemClock, home::Home, lock, lock::HubLock};
use loom_secrets::Redactor;
use loom_server::{Cidr, ListenConfig, Server, SocketAuth, TlsFiles};
use loom_store::{Store, StoreConfig, StoreUrl};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::credentials;

pub(crate) use random::entropy;

/// What a hub is started from.
pub(crate) struct Start {
    /// Data directory.
    pub(crate) home: PathBuf,
    /// Environment variables.
    pub(crate) variables: BTreeMap<String, String>,
    /// Whether logs also go to stderr.
    pub(crate) talks: bool,
}

/// A hub that serves.
pub(crate) struct Running {
    /// The hub.
    pub(crate) hub: Hub,
    /// Where it listens.
    pub(crate) listens: Vec<String>,
    server: tokio::task::JoinHandle<()>,
    server_stop: CancellationToken,
    _lock: HubLock,
    _logs: logs::Guard,
}

/// Starts a hub: lock, store, tasks, then the listeners. No network call is made before they serve.
pub(crate) async fn start(start: Start) -> Result<Running> {
    let began = Instant::now();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let home = Home::new(&start.home);
    home.prepare()?;
    let lock = lock::take(&home, clock.now())?;
    let config = Config::load(&home.join("loom.toml"), start.variables.clone().into_iter())?;
    let redactor = Redactor::new();
    let logs = logs::start(&home, &config, redactor.clone(), start.talks)?;
    let socket =
        loom_server::socket_path(home.root(), start.variables.get("XDG_RUNTIME_DIR").map(Path::new))?;
    let entropy = entropy();
    let node = home.node(clock.now(), entropy())?;
    let store = open_store(&config, &home, node.as_str(), clock.clone()).await?;
    let resolver = Arc::new(credentials::resolver(home.root(), &start.variables, redactor.clone())?);
    let make_channel = channels::maker(&config, &home, &redactor, &start.variables)?;
    let listen = listen_config(&config, socket.clone())?;
    let scheme = if listen.tls.is_some() { "https" } else { "http" };
    let lent = world::lent(&home, &start.variables, &config, &redactor, Arc::clone(&resolver));
    let parts = Parts { config, home, store, clock, entropy, resolver, redactor, make_channel, lent, socket };
    let hub = Hub::start(parts);
    let server_stop = CancellationToken::new();
    let mut doors = loom_server::doors(&hub);
    doors.status = Arc::new(watch::figures_of(&hub, &start.variables)?);
    let metrics = doors.metrics.clone();
    let server = match Server::bind(listen, doors, server_stop.clone()).await {
        Ok(server) => server,
        Err(error) => {
            hub.stop(Duration::ZERO).await;
            return Err(error);
        }
    };
    let socket = server.socket_path().map(|path| format!("unix:{}", path.display()));
    let address = server.local_addr().map(|address| format!("{scheme}://{address}"));
    let listens: Vec<String> = socket.into_iter().chain(address).collect();
    let server = tokio::spawn(server.serve());
    metrics.started_in(began.elapsed());
    tracing::info!(listens = ?listens, "the hub serves");
    Ok(Running { hub, listens, server, server_stop, _lock: lock, _logs: logs })
}

impl Running {
    /// Drains and stops everything, in the order of the specification.
    pub(crate) async fn stop(self, limit: Duration) {
        self.hub.stop(limit).await;
        self.server_stop.cancel();
        let _ = self.server.await;
        tracing::info!("the hub has stopped");
    }
}

async fn open_store(config: &Config, home: &Home, node: &str, clock: Arc<dyn Clock>) -> Result<Store> {
    let settings = store_settings(config, home, node)?;
    let open = move || Store::open(settings, clock.now());
    tokio::task::spawn_blocking(open).await.map_err(Error::internal)?
}

fn store_settings(config: &Config, home: &Home, node: &str) -> Result<StoreConfig> {
    let section = config.store.clone();
    Ok(StoreConfig {
        url: match section.url.as_str() {
            "sqlite" => StoreUrl::Sqlite,
            url if url.starts_with("postgres://")
                || url.starts_with("postgresql://")
                || url.contains("host=") =>
            {
                StoreUrl::Postgres(url.to_owned())
            }
            _ => return Err(Error::invalid("store.url", "expected `sqlite` or a postgres:// URL")),
        },
        commit_delay: Duration::from_micros(section.commit_delay_us),
        commit_max: section.commit_max,
        wal_limit_bytes: section.wal_limit_bytes,
        reader_threads: section.reader_threads,
        ..StoreConfig::new(home.root(), node)
    })
}

fn listen_config(config: &Config, socket: PathBuf) -> Result<ListenConfig> {
    let section = &config.listen;
    let address =
        match section.address.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                Error::invalid("listen.address", "expected an address such as 127.0.0.1:4870")
            })?),
        };
    let socket_auth = match section.socket_auth.as_str() {
        "peer" => SocketAuth::Peer,
        "token" => SocketAuth::Token,
        _ => return Err(Error::invalid("listen.socket_auth", "expected peer or token")),
    };
    let trusted_proxies =
        section.trusted_proxies.iter().map(|text| text.parse::<Cidr>()).collect::<Result<Vec<_>>>()?;
    let mut listen = ListenConfig {
        address,
        socket: Some(socket),
        socket_auth,
        public_url: Some(section.public_url.clone()).filter(|url| !url.is_empty()),
        allowed_hosts: section.allowed_hosts.clone(),
        cors_origins: section.cors_origins.clone(),
        tls: section.tls.clone().map(|tls| TlsFiles { cert: tls.cert, key: tls.key }),
        behind_proxy: section.behind_proxy,
        trusted_proxies,
        ..ListenConfig::default()
    };
    listen.requests.body_bytes_max = usize::try_from(section.body_max_bytes)
        .map_err(|_| Error::new(Code::InvalidArgument, "listen.body_max_bytes is too large"))?;
    listen.requests.rate_per_s = section.rate_per_s;
    listen.requests.rate_burst = section.rate_burst;
    listen.check_bind()?;
    Ok(listen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time until the hub served is told once it does.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_time_of_the_start_is_measured() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let variables = BTreeMap::from([("LOOM_LISTEN__ADDRESS".to_owned(), "\"\"".to_owned())]);
        let running = start(Start { home: home.clone(), variables, talks: false }).await.unwrap();
        let hub = loom_api::Client::new(loom_api::Endpoint::Unix(home.join("run/loom.sock")), None);
        let bytes = hub.get(loom_api::routes::metrics()).run_bytes().await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let told = text.lines().find_map(|line| line.strip_prefix("loom_start_seconds "));
        assert!(told.and_then(|told| told.parse::<f64>().ok()).is_some_and(|told| told > 0.0), "{told:?}");
        running.stop(Duration::ZERO).await;
    }

    /// An address that others can reach needs TLS; certificate and key come from the configuration.
    #[test]
    fn tls_of_the_listener_comes_from_the_configuration() {
        let listen = |text: &str| {
            let config = Config::parse(text, std::iter::empty()).unwrap();
            listen_config(&config, PathBuf::from("/run/loom.sock"))
        };
        let open = "[listen]\naddress = \"0.0.0.0:4870\"\n";
        assert_eq!(listen(open).unwrap_err().code, Code::InsecureBind);
        let tls =
            listen(&format!("{open}tls = {{ cert = \"/c.pem\", key = \"/k.pem\" }}")).unwrap().tls.unwrap();
        assert_eq!((tls.cert, tls.key), (PathBuf::from("/c.pem"), PathBuf::from("/k.pem")));
        let half = Config::parse("[listen]\ntls = { cert = \"/c.pem\" }", std::iter::empty());
        assert_eq!(half.unwrap_err().code, Code::InvalidArgument);
    }
}
