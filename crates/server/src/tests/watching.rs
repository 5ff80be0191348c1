//! The server that only watches: every guard, on real sockets, with a store that another handle writes.

mod access;
mod late;
mod load;
mod origin;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use loom_domain::Timestamp;
use loom_store::{Store, StoreConfig};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::house::{NOW, Reply, bearer, read_reply, request};
use crate::{Cors, Figures, HomeStore, ListenConfig, Live, SECRET_BYTES, Server, Watched, watching};

/// Every route of the server, each with a `GET`.
const ROUTES: [&str; 10] = [
    "/",
    "/status.json",
    "/healthz",
    "/readyz",
    "/metrics",
    "/events",
    "/v1/capabilities",
    "/v1/capabilities/github_public_probe",
    "/v1/requests",
    "/no/such/route",
];

/// A watching server on a free port and a socket, stopped when dropped.
struct Watch {
    address: SocketAddr,
    socket: PathBuf,
    token: String,
    store: Store,
    home: tempfile::TempDir,
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

impl Watch {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(adjust: impl FnOnce(&mut ListenConfig)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = StoreConfig { reader_threads: 1, ..StoreConfig::new(home.path(), "tests") };
        let (writing, reading) = (config.clone(), config);
        let store = tokio::task::spawn_blocking(move || Store::open(writing, NOW)).await.unwrap().unwrap();
        let seen = HomeStore::of(Store::open_reader(reading).unwrap());
        Self::seeing(home, store, seen, adjust).await
    }

    /// With a store as the server sees it.
    async fn seeing(
        home: tempfile::TempDir,
        store: Store,
        seen: HomeStore,
        adjust: impl FnOnce(&mut ListenConfig),
    ) -> Self {
        let socket = home.path().join("run/status.sock");
        let clock: crate::Clock = Arc::new(|| NOW);
        let live = Live::Socket(home.path().join("run/no-hub.sock"));
        let figures = Figures::new(home.path().to_owned(), seen.clone(), live, clock.clone());
        let watched =
            Watched { home: home.path().to_owned(), store: seen, clock, random: [7; SECRET_BYTES], figures };
        let (doors, file) = watching(watched).unwrap();
        let token = std::fs::read_to_string(file).unwrap();
        let mut config = ListenConfig {
            address: "127.0.0.1:0".parse().ok(),
            socket: Some(socket.clone()),
            cors: Cors::WATCHING,
            ..ListenConfig::default()
        };
        config.requests.body_bytes_max = 64 * 1024;
        adjust(&mut config);
        let stop = CancellationToken::new();
        let server = Server::bind_watching(config, doors, stop.clone()).await.unwrap();
        let address = server.local_addr().unwrap();
        Watch { address, socket, token, store, home, task: tokio::spawn(server.serve()), stop }
    }

    async fn raw(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A refused sender may find the connection closed before it is done.
        let _ = stream.write_all(bytes.as_ref()).await;
        read_reply(&mut stream).await
    }

    /// Over TCP with the right Host and no token.
    async fn bare(&self, line: &str, headers: &[&str]) -> Reply {
        self.raw(request(line, &self.address.to_string(), headers, "")).await
    }

    /// Over TCP with the viewer's token.
    async fn viewer(&self, line: &str, headers: &[&str]) -> Reply {
        let token = bearer(&self.token);
        let all: Vec<&str> = headers.iter().copied().chain([token.as_str()]).collect();
        self.bare(line, &all).await
    }

    async fn over_socket(&self, line: &str, host: &str) -> Reply {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        stream.write_all(request(line, host, &[], "").as_bytes()).await.unwrap();
        read_reply(&mut stream).await
    }

    async fn status(&self) -> Value {
        let reply = self.viewer("GET /status.json", &[]).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        serde_json::from_str(&reply.body).unwrap()
    }
}

/// No answer shows where things lie, what the libraries say, or what surrounds the process.
fn tells_nothing_private(reply: &Reply, home: &std::path::Path) {
    let home = home.display().to_string();
    for private in [home.as_str(), "/home/", "axum", "hyper", "serde", "sqlite", "panicked", ".rs:"] {
        assert!(!reply.body.contains(private), "{private}: {}", reply.body);
    }
}

/// The figures are those of the store, whoever asks, and move with it.
#[tokio::test]
async fn cap_144_the_figures_are_the_stores() {
    let watch = Watch::new().await;
    let status = watch.status().await;
    assert_eq!(status["schema_version"], "loom.status/v1");
    assert_eq!((&status["hub"], &status["agents"]["total"]), (&"not_running".into(), &0.into()));
    let act = loom_store::Act {
        principal: loom_domain::Principal::Owner,
        now: Timestamp(NOW.0),
        entropy: Arc::new(|| 7),
    };
    let new = serde_json::json!({"name": "docs", "runtime": "command", "command": ["/bin/cat"]});
    watch.store.create_agent(act, serde_json::from_value(new).unwrap(), false).await.unwrap();
    let status = watch.status().await;
    let stats = watch.store.stats().await.unwrap();
    assert_eq!(status["agents"]["total"], stats.agents);
    assert_eq!(status["queues"]["agents"][0]["agent"], "docs");
    let metrics = watch.viewer("GET /metrics", &[]).await;
    assert!(metrics.body.contains("loom_queue_oldest_age_seconds{queue=\"inbox\"} 0"), "{}", metrics.body);
    assert!(metrics.body.ends_with("# EOF\n") && metrics.body.matches("# EOF").count() == 1);
    let page = watch.viewer("GET /", &["accept: text/html"]).await;
    assert!(page.head.contains("text/html") && page.body.contains("<td>docs</td>"), "{}", page.body);
    assert!(page.head.contains("content-security-policy: default-src 'none'"));
}

/// Whoever asks whether it is ready asks neither the hub nor the catalog; a scrape of metrics needs no catalog either.
#[tokio::test]
async fn cap_144_readyz_and_metrics_ask_for_no_more_than_they_tell() {
    let watch = Watch::new().await;
    // A hub that takes a connection and never answers, and maps that cannot be read.
    let hub = tokio::net::UnixListener::bind(watch.home.path().join("run/no-hub.sock")).unwrap();
    std::fs::write(watch.home.path().join("connectors"), b"no folder").unwrap();
    assert_eq!(watch.bare("GET /readyz", &[]).await.body, r#"{"ok":true}"#);
    let asked = tokio::time::timeout(std::time::Duration::ZERO, hub.accept()).await;
    assert!(asked.is_err(), "the hub was asked");
    drop(hub);
    assert_eq!(watch.viewer("GET /metrics", &[]).await.status, 200);
    assert_ne!(watch.viewer("GET /status.json", &[]).await.status, 200, "this one needs the maps");
}
