//! Peers with scripts, and transports that know them.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use loom_transport::log::MemoryLog;
use loom_transport::{Entropy, MockBackend, Resolve, Transport, TransportBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Jitter of zero, ids that count.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl Entropy for Counting {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1) << 40
    }
}

/// What a peer does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Writes this and waits for the next request.
    Reply(Vec<u8>),
    /// Writes this and closes.
    ReplyAndClose(Vec<u8>),
    /// Closes without an answer.
    Close,
    /// Never answers.
    Silent,
    /// Writes one byte per pause.
    Drip(Duration),
}

/// A peer; each request takes the next act, the last one repeats. Stops when dropped.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    pub(crate) async fn start(acts: impl IntoIterator<Item = Act>) -> Peer {
        Self::start_at("127.0.0.1:0", acts).await
    }

    pub(crate) async fn start_at(bind: &str, acts: impl IntoIterator<Item = Act>) -> Peer {
        let listener = TcpListener::bind(bind).await.unwrap();
        let address = listener.local_addr().unwrap();
        let acts = Arc::new(Mutex::new(acts.into_iter().collect::<VecDeque<_>>()));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicU64::new(0));
        let (seen, count) = (Arc::clone(&requests), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            let mut set = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                set.spawn(talk(stream, Arc::clone(&acts), Arc::clone(&seen)));
            }
        });
        Peer { address, requests, connections, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    /// A transport that knows this peer.
    pub(crate) fn transport(&self) -> Transport {
        self.builder().build().unwrap()
    }

    pub(crate) fn builder(&self) -> TransportBuilder {
        builder().local_origin(&self.url(""))
    }
}

async fn talk(mut stream: TcpStream, acts: Arc<Mutex<VecDeque<Act>>>, seen: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read_request(&mut stream).await {
        seen.lock().unwrap().push(request);
        let act = {
            let mut acts = acts.lock().unwrap();
            if acts.len() > 1 { acts.pop_front() } else { acts.front().cloned() }
        };
        match act.unwrap_or(Act::Close) {
            Act::Reply(bytes) => stream.write_all(&bytes).await.unwrap(),
            Act::ReplyAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Act::Close => return,
            Act::Silent => std::future::pending().await,
            Act::Drip(pause) => loop {
                tokio::time::sleep(pause).await;
                if stream.write_all(b"H").await.is_err() {
                    return;
                }
            },
        }
    }
}

/// Reads a request with its body, as text.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text
                .to_ascii_lowercase()
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| rest.split("\r\n").next().unwrap().trim().parse::<usize>().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(text);
            }
        }
        let mut chunk = [0; 8192];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

/// An answer with a length.
pub(crate) fn reply(status: &str, headers: &str, body: &[u8]) -> Act {
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    Act::Reply(bytes)
}

pub(crate) fn ok_json(body: &str) -> Act {
    reply("200 OK", "Content-Type: application/json\r\n", body.as_bytes())
}

/// A resolver with scripted answers; the last one repeats.
#[derive(Debug, Default)]
pub(crate) struct Names {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: AtomicU64,
}

impl Names {
    pub(crate) fn new<const N: usize>(answers: [&[&str]; N]) -> Arc<Names> {
        let parse = |list: &[&str]| list.iter().map(|a| a.parse().unwrap()).collect();
        Arc::new(Names {
            answers: Mutex::new(answers.into_iter().map(parse).collect()),
            asked: AtomicU64::new(0),
        })
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        answer.ok_or_else(|| std::io::Error::other("no such name"))
    }
}

pub(crate) fn builder() -> TransportBuilder {
    Transport::builder().entropy(Arc::new(Counting::default())).resolver(Names::new([]))
}

/// A transport over a mock, with its log.
pub(crate) fn mocked() -> (Transport, Arc<MockBackend>, Arc<MemoryLog>) {
    let (mock, log) = (Arc::new(MockBackend::new()), Arc::new(MemoryLog::default()));
    let transport = builder().backend(Arc::clone(&mock) as _).log(Arc::clone(&log) as _).build().unwrap();
    (transport, mock, log)
}
