//! A server that echoes every credential it is given: in headers, bodies, URLs and errors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Ways to echo: an error code, a 500 with a body, a redirect, and success with a socket URL.
pub(super) const TEMPERS: usize = 4;
const HEAD_BYTES_MAX: usize = 64 * 1024;

#[derive(Default)]
struct State {
    temper: AtomicUsize,
    calls: AtomicUsize,
}

/// A running parrot; it stops when dropped.
pub(super) struct Parrot {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl Parrot {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                drop(answer(stream, address, &shared).await);
            }
        });
        Parrot { address, state, task }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/api/", self.address)
    }

    pub(super) fn next_temper(&self) {
        self.state.temper.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn calls(&self) -> usize {
        self.state.calls.load(Ordering::SeqCst)
    }
}

impl Drop for Parrot {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, address: SocketAddr, state: &State) -> std::io::Result<()> {
    let head = head(&mut stream).await?;
    let header = |line: &str| line.to_ascii_lowercase().starts_with("authorization:");
    let secret = head.lines().find(|line| header(line)).and_then(|line| line.split_whitespace().last());
    let secret = secret.unwrap_or("nothing").to_owned();
    state.calls.fetch_add(1, Ordering::SeqCst);
    let quoted = utf8_percent_encode(&secret, NON_ALPHANUMERIC).to_string();
    let coded = hex::encode(&secret);
    let (status, more, body) = match state.temper.load(Ordering::SeqCst) % TEMPERS {
        0 => (
            "200 OK",
            String::new(),
            format!(r#"{{"ok":false,"error":"invalid_{secret}","hint":"{coded}"}}"#),
        ),
        1 => ("500 Oops", String::new(), format!("your token {secret} ({quoted}, {coded}) broke us")),
        2 => {
            ("302 Found", format!("location: http://{address}/api/other?token={quoted}\r\n"), secret.clone())
        }
        _ => ("200 OK", String::new(), success(&secret, &quoted, address)),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-slack-req-id: {secret}\r\nx-echo: {quoted}\r\n{more}\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await
}

fn success(secret: &str, quoted: &str, address: SocketAddr) -> String {
    format!(
        r#"{{"ok":true,"team_id":"T0001","team":"{secret}","user_id":"U0BOT","user":"{secret}","bot_id":"B0BOT",
           "bot":{{"id":"B0BOT","app_id":"A0002","name":"{secret}"}},"url":"ws://{address}/link?ticket={quoted}"}}"#
    )
}

async fn head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") && bytes.len() < HEAD_BYTES_MAX {
        match stream.read(&mut chunk).await? {
            0 => break,
            read => bytes.extend_from_slice(&chunk[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
