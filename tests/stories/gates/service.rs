//! A ticket service on loopback that counts what it is told, and can fail to answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the service does with a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// Takes it and says so.
    Answers,
    /// Takes it, and the answer is lost.
    LosesAnswers,
    /// Refuses it.
    Refuses,
}

/// The service; it ends with this.
pub(super) struct Service {
    pub(super) url: String,
    comments: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    pub(super) async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (comments, heads) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (counted, kept) = (comments.clone(), heads.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let text = read(&mut socket).await;
                if text.starts_with("POST ") {
                    counted.fetch_add(1, Ordering::SeqCst);
                    kept.lock().unwrap().push(text);
                }
                // Whoever asked may be gone.
                let _ = answer(&mut socket, mood).await;
            }
        });
        Service { url, comments, heads, task }
    }

    /// Comments that arrived.
    pub(super) fn comments(&self) -> usize {
        self.comments.load(Ordering::SeqCst)
    }

    /// The last comment, head and body.
    pub(super) fn last(&self) -> String {
        self.heads.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

/// One request, with the body that its length announces.
async fn read(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok()
            });
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                return text;
            }
        }
        match socket.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return text,
            Ok(_) => {}
        }
    }
}

async fn answer(socket: &mut TcpStream, mood: Mood) -> std::io::Result<()> {
    let (status, body) = match mood {
        Mood::LosesAnswers => return socket.shutdown().await,
        Mood::Answers => ("201 Created", r#"{"id":"c1"}"#),
        Mood::Refuses => ("422 Unprocessable Content", r#"{"message":"no"}"#),
    };
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(text.as_bytes()).await?;
    socket.shutdown().await
}
