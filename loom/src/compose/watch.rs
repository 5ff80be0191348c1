//! A server that watches a home: its store opened for reading, its files, and the hub's word if one runs.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loom_domain::{Code, Error, Result};
use loom_hub::{Clock as _, Config, Hub, SystemClock, home::Home};
use loom_server::{Clock, Cors, Figures, HomeStore, ListenConfig, Live, SECRET_BYTES, Server, Watched};
use loom_store::Store;
use tokio_util::sync::CancellationToken;

use super::{random::entropy, store_settings, world};

/// Largest body of a server that takes none.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Name of a node that writes nothing.
const NODE: &str = "watcher";
const HALF_BYTES: usize = SECRET_BYTES / 2;

/// Where it listens and who may read from another site.
pub(crate) struct Listen {
    /// Address, unless only the socket serves.
    pub(crate) address: Option<SocketAddr>,
    /// Path of a unix socket.
    pub(crate) socket: Option<PathBuf>,
    /// Further origins.
    pub(crate) origins: Vec<String>,
    /// Further hosts.
    pub(crate) hosts: Vec<String>,
}

/// A bound server and where its token lies.
pub(crate) struct Watching {
    /// The server.
    pub(crate) server: Server,
    /// File of the viewer's token.
    pub(crate) token: PathBuf,
}

/// Binds it. Fails before a port is open when others could reach the address.
pub(crate) async fn bind(
    root: &Path,
    hub_socket: PathBuf,
    variables: &BTreeMap<String, String>,
    listen: Listen,
    stop: CancellationToken,
) -> Result<Watching> {
    let home = Home::new(root);
    home.prepare()?;
    let config = listen_config(listen)?;
    let (own, given) = (home.clone(), variables.clone());
    let store = HomeStore::look(move || open_reader(&own, &given))?;
    let clock: Clock = Arc::new(|| SystemClock.now());
    let figures = Figures::new(root.to_owned(), store.clone(), Live::Socket(hub_socket), clock.clone())
        .with_world(world::offline_of(root, variables)?);
    let watched = Watched { home: root.to_owned(), store, clock, random: random(), figures };
    let (doors, token) = loom_server::watching(watched)?;
    let server = Server::bind_watching(config, doors, stop).await.map_err(in_own_words)?;
    Ok(Watching { server, token })
}

/// What the status routes of a hub tell.
pub(super) fn figures_of(hub: &Hub, variables: &BTreeMap<String, String>) -> Result<Figures> {
    let (home, clock) = (hub.home().root().to_owned(), hub.clone());
    let world = world::offline_of(&home, variables)?;
    let clock: Clock = Arc::new(move || clock.now());
    Ok(Figures::new(home, HomeStore::of(hub.store().clone()), Live::Here(hub.clone()), clock)
        .with_world(world))
}

fn listen_config(listen: Listen) -> Result<ListenConfig> {
    listen.origins.iter().try_for_each(|origin| ListenConfig::check_origin(origin))?;
    listen.hosts.iter().try_for_each(|host| ListenConfig::check_host(host))?;
    let mut config = ListenConfig {
        address: listen.address,
        socket: listen.socket,
        cors_origins: listen.origins,
        allowed_hosts: listen.hosts,
        cors: Cors::WATCHING,
        ..ListenConfig::default()
    };
    config.requests.body_bytes_max = BODY_BYTES_MAX;
    config.check_bind().map_err(in_own_words)?;
    Ok(config)
}

/// Names this server's options, where the hub's settings are meant otherwise.
fn in_own_words(error: Error) -> Error {
    match error.code {
        Code::InsecureBind => error.with_hint(
            "Listen on 127.0.0.1 or a unix socket; let a proxy with TLS stand in front and name it with --allow-host.",
        ),
        _ if error.message.starts_with("listen.address") => {
            error.with_hint("Stop what holds it, or take another one: --listen 127.0.0.1:PORT.")
        }
        _ => error,
    }
}

/// The store of the home, if a hub has made one.
fn open_reader(home: &Home, variables: &BTreeMap<String, String>) -> Result<Option<Store>> {
    let config = Config::load(&home.join("loom.toml"), variables.clone().into_iter())?;
    match Store::open_reader(store_settings(&config, home, NODE)?) {
        Ok(store) => Ok(Some(store)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn random() -> [u8; SECRET_BYTES] {
    let (mut bytes, entropy) = ([0; SECRET_BYTES], entropy());
    for half in bytes.chunks_mut(HALF_BYTES) {
        half.copy_from_slice(&entropy().to_ne_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_options_of_this_server() {
        let open = Listen {
            address: Some("0.0.0.0:8765".parse().unwrap()),
            socket: None,
            origins: vec![],
            hosts: vec![],
        };
        let refused = listen_config(open).unwrap_err();
        assert_eq!(refused.code, Code::InsecureBind);
        assert!(refused.hint.unwrap().contains("--allow-host"));
        let taken = in_own_words(Error::invalid("listen.address", "127.0.0.1:8765 cannot be bound: in use"));
        assert!(taken.hint.unwrap().contains("--listen"));
    }
}
