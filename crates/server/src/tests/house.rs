//! A running server for tests, with routes that count what reached them, and a raw client.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::routing::MethodFilter;
use loom_domain::{AgentId, Code, Error, Principal, Timestamp, TokenId};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::desk::silent::Silent;
use crate::extract::{Doc, Upload};
use crate::routes::Routes;
use crate::{
    AgentOrOwner, AnyReader, App, Doors, EventSource, Figures, History, HomeStore, ListenConfig, Live,
    Metrics, Owner, Problem, Readiness, Scope, Scopes, Server, StoredToken, StreamEvent, TokenKind,
    TokenStore, mint,
};

pub(super) const NOW: Timestamp = Timestamp(1_700_000_000_000);
const DEADLINE: Duration = Duration::from_secs(20);

/// Tokens and events of the test hub.
pub(super) struct Hub {
    tokens: Mutex<HashMap<TokenId, StoredToken>>,
    pub(super) stored: Mutex<Vec<Arc<StreamEvent>>>,
    pub(super) gone_before: Mutex<u64>,
    pub(super) ready: Mutex<bool>,
    pub(super) live: broadcast::Sender<Arc<StreamEvent>>,
}

impl Default for Hub {
    fn default() -> Self {
        Hub {
            tokens: Mutex::default(),
            stored: Mutex::default(),
            gone_before: Mutex::default(),
            ready: Mutex::new(true),
            live: broadcast::Sender::new(1_024),
        }
    }
}

impl Hub {
    pub(super) fn token(&self, n: u128, principal: Principal, scopes: Scopes) -> String {
        let kind = if matches!(principal, Principal::Connector(_)) {
            TokenKind::Connector
        } else {
            TokenKind::Person
        };
        let minted = mint(kind, TokenId::new(NOW.0, n), &[u8::try_from(n).unwrap(); 32]);
        let stored =
            StoredToken { principal, scopes, sha256: minted.sha256, expires_at: None, revoked: false };
        self.tokens.lock().unwrap().insert(minted.id, stored);
        minted.value
    }

    pub(super) fn revoke_all(&self) {
        for stored in self.tokens.lock().unwrap().values_mut() {
            stored.revoked = true;
        }
    }
}

#[async_trait]
impl TokenStore for Hub {
    async fn lookup(&self, id: &TokenId) -> Result<Option<StoredToken>, Error> {
        Ok(self.tokens.lock().unwrap().get(id).cloned())
    }
}

#[async_trait]
impl EventSource for Hub {
    fn subscribe(&self) -> broadcast::Receiver<Arc<StreamEvent>> {
        self.live.subscribe()
    }
    async fn pump(&self, stop: CancellationToken) {
        stop.cancelled().await;
    }
    async fn after(&self, seq: u64, limit: usize) -> Result<History, Error> {
        if seq < *self.gone_before.lock().unwrap() {
            return Ok(History::Gone);
        }
        let stored = self.stored.lock().unwrap();
        Ok(History::Events(stored.iter().filter(|e| e.seq > Some(seq)).take(limit).cloned().collect()))
    }
}

#[async_trait]
impl Readiness for Hub {
    async fn readiness(&self) -> (bool, Value) {
        let ready = *self.ready.lock().unwrap();
        (ready, json!({"store": ready}))
    }
}

pub(super) fn doors(hub: &Arc<Hub>) -> Doors {
    Doors {
        desk: Arc::new(Silent),
        tokens: hub.clone(),
        events: hub.clone(),
        readiness: hub.clone(),
        status: Arc::new(Figures::new(
            std::env::temp_dir().join("no-home"),
            HomeStore::none(),
            Live::Socket(PathBuf::from("/no/socket")),
            Arc::new(|| NOW),
        )),
        clock: Arc::new(|| NOW),
        is_runtime_child: Arc::new(|_| false),
        holds_secret: Arc::new(|bytes| bytes.windows(14).any(|window| window == b"the-known-secr")),
        metrics: Arc::new(Metrics::new("0.0.0", Vec::new())),
    }
}

pub(super) fn event(seq: u64, kind: &str, agent: Option<&AgentId>) -> Arc<StreamEvent> {
    Arc::new(StreamEvent {
        seq: Some(seq),
        kind: kind.to_owned(),
        agent: agent.cloned(),
        data: json!({"seq": seq}).to_string(),
    })
}

/// A server on a free port and a socket, stopped when dropped.
pub(super) struct House {
    pub(super) hub: Arc<Hub>,
    pub(super) address: SocketAddr,
    pub(super) socket: PathBuf,
    task: JoinHandle<()>,
    stop: CancellationToken,
    _dir: tempfile::TempDir,
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

pub(super) async fn house() -> House {
    house_with(|_| {}).await
}

pub(super) async fn house_with(adjust: impl FnOnce(&mut ListenConfig)) -> House {
    house_where(adjust, |_| false).await
}

pub(super) async fn house_where(
    adjust: impl FnOnce(&mut ListenConfig),
    is_runtime_child: impl Fn(u32) -> bool + Send + Sync + 'static,
) -> House {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("run/loom.sock");
    let hub = Arc::new(Hub::default());
    let mut config = ListenConfig {
        address: "127.0.0.1:0".parse().ok(),
        socket: Some(socket.clone()),
        ..ListenConfig::default()
    };
    adjust(&mut config);
    let doors = Doors { is_runtime_child: Arc::new(is_runtime_child), ..doors(&hub) };
    let stop = CancellationToken::new();
    let server = Server::bind_routes(config, doors, stop.clone(), router).await.unwrap();
    let address = server.local_addr().unwrap();
    House { hub, address, socket, task: tokio::spawn(server.serve()), stop, _dir: dir }
}

fn router(app: &App) -> Router {
    let counter = Arc::new(AtomicUsize::new(0));
    let changed = Arc::clone(&counter);
    let change = move |_who: Owner, Doc(document): Doc<Value>| {
        let count = changed.fetch_add(1, Ordering::SeqCst) + 1;
        async move { axum::Json(json!({"count": count, "document": document})) }
    };
    let count = move |_who: Owner| async move { counter.load(Ordering::SeqCst).to_string() };
    let routes = crate::routes::all(Routes::new(app))
        .change(MethodFilter::POST, "/v1/test/change", Scope::Whole, change)
        .say("/v1/test/say", Scope::Whole, |_: Owner, Doc(said): Doc<Value>| async move { axum::Json(said) })
        .get("/v1/test/count", Scope::Whole, count)
        .get("/v1/test/any", Scope::InboxRead, |who: AnyReader| async move { who.0.to_string() })
        .change(MethodFilter::POST, "/v1/test/act", Scope::InboxAct, |who: AgentOrOwner| async move {
            who.0.to_string()
        })
        .get("/v1/test/defect", Scope::Whole, |_: Owner| async {
            Problem::from(Error::internal("the cause with its private detail"))
        })
        .get("/v1/test/panic", Scope::Whole, panicking)
        .get("/v1/test/slow", Scope::Whole, |_: Owner| std::future::pending::<String>())
        .upload("/v1/test/upload", Scope::OutboxSend, |_: AgentOrOwner, mut upload: Upload| async move {
            let mut bytes = 0;
            while let Some(chunk) = upload.chunk().await? {
                bytes += chunk.len();
            }
            Ok::<_, Problem>(bytes.to_string())
        });
    routes.finish()
}

async fn panicking(_who: Owner) -> String {
    let empty: Vec<String> = Vec::new();
    empty[0].clone()
}

/// An answer as it came over the wire.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn parse(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(super) fn code(&self) -> Option<Code> {
        let document: Value = serde_json::from_str(&self.body).ok()?;
        Code::parse(document["code"].as_str()?)
    }
}

impl House {
    pub(super) async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends raw bytes over TCP and reads until the server closes.
    pub(super) async fn raw(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut stream = self.tcp().await;
        // A refused sender may find the connection closed before it is done.
        let _ = stream.write_all(bytes.as_ref()).await;
        read_reply(&mut stream).await
    }

    /// Sends a request over TCP with the right Host.
    pub(super) async fn over_tcp(&self, line: &str, headers: &[&str], body: &str) -> Reply {
        self.raw(request(line, &self.address.to_string(), headers, body)).await
    }

    /// Sends a request over the unix socket, as the owner.
    pub(super) async fn as_owner(&self, line: &str, headers: &[&str], body: &str) -> Reply {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        stream.write_all(request(line, "localhost", headers, body).as_bytes()).await.unwrap();
        read_reply(&mut stream).await
    }

    /// How often the changing route ran.
    pub(super) async fn changes(&self) -> usize {
        self.as_owner("GET /v1/test/count", &[], "").await.body.parse().unwrap()
    }
}

pub(super) fn request(line: &str, host: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        let length = format!("content-length: {}\r\n", body.len());
        text.push_str(&length);
    }
    text + "\r\n" + body
}

pub(super) async fn read_reply(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Reply {
    let mut bytes = Vec::new();
    // A reset after the answer still leaves the answer.
    let _ = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes))
        .await
        .expect("the server closes in time");
    Reply::parse(&bytes)
}

pub(super) fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}")
}
