//! JSON lines with one app-server: requests, answers, and messages sorted by thread.
//!
//! The server has an id space of its own for its requests, so a message is sorted by `method` and `id` before
//! the table of our own requests is looked at.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::sync::CancellationToken;

use crate::{ErrClass, Redact, RuntimeError};

use super::classify;
use super::history::text;

/// Lines waiting to be written.
const OUT_LINES_MAX: usize = 64;
/// Messages waiting for a Turn to look at them.
const THREAD_MESSAGES_MAX: usize = 4096;
/// JSON-RPC: there is no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A message of the server that belongs to a thread.
#[derive(Debug)]
pub(super) enum Incoming {
    /// It tells.
    Notification { method: String, params: Value },
    /// It asks.
    Request { id: Value, method: String, params: Value },
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// Nothing was written.
    NotSent(RuntimeError),
    /// The server said no.
    Refused(RuntimeError),
    /// It was written and no answer came.
    NoAnswer(RuntimeError),
}

impl CallError {
    /// The error without the question of what was sent.
    pub(super) fn into_error(self) -> RuntimeError {
        match self {
            CallError::NotSent(error) | CallError::Refused(error) | CallError::NoAnswer(error) => error,
        }
    }
}

type Answer = Result<Value, RuntimeError>;

#[derive(Default)]
struct Tables {
    pending: HashMap<u64, oneshot::Sender<Answer>>,
    threads: HashMap<String, mpsc::Sender<Incoming>>,
    closed: bool,
}

/// One connection.
pub(super) struct Connection {
    out: mpsc::Sender<String>,
    tables: Mutex<Tables>,
    next: AtomicU64,
    eof: CancellationToken,
    redact: Redact,
}

impl Connection {
    /// Makes the connection, and the queue its writer empties.
    pub(super) fn new(redact: Redact) -> (Self, mpsc::Receiver<String>) {
        let (out, lines) = mpsc::channel(OUT_LINES_MAX);
        let tables = Mutex::new(Tables::default());
        let connection =
            Connection { out, tables, next: AtomicU64::new(1), eof: CancellationToken::new(), redact };
        (connection, lines)
    }

    /// Whether the server may still answer.
    pub(super) fn is_open(&self) -> bool {
        !self.tables().closed && !self.eof.is_cancelled()
    }

    /// Closes our side: the server sees the end of its input.
    pub(super) fn end_input(&self) {
        self.eof.cancel();
    }

    /// The token that ends the writer.
    pub(super) fn eof(&self) -> CancellationToken {
        self.eof.clone()
    }

    /// Sends a request and waits for its result.
    pub(super) async fn call(&self, method: &str, params: Value, wait: Duration) -> Result<Value, CallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        {
            let mut tables = self.tables();
            if tables.closed || self.eof.is_cancelled() {
                return Err(CallError::NotSent(exited()));
            }
            tables.pending.insert(id, sender);
        }
        let line = json!({"id": id, "method": method, "params": params}).to_string();
        if self.out.send(line).await.is_err() {
            self.tables().pending.remove(&id);
            return Err(CallError::NotSent(exited()));
        }
        match timeout(wait, answer).await {
            Ok(Ok(answer)) => answer.map_err(CallError::Refused),
            Ok(Err(_)) => Err(CallError::NoAnswer(exited())),
            Err(_) => {
                self.tables().pending.remove(&id);
                let message = format!("codex did not answer {method} in time");
                Err(CallError::NoAnswer(RuntimeError::new(ErrClass::Timeout, message)))
            }
        }
    }

    /// Sends a request whose answer does not matter.
    pub(super) async fn post(&self, method: &str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self.out.send(json!({"id": id, "method": method, "params": params}).to_string()).await;
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str) {
        let _ = self.out.send(json!({"method": method}).to_string()).await;
    }

    /// Answers a request of the server.
    pub(super) async fn respond(&self, id: &Value, result: Value) -> Result<(), RuntimeError> {
        self.out.send(json!({"id": id, "result": result}).to_string()).await.map_err(|_| exited())
    }

    /// Refuses a request of the server.
    pub(super) async fn refuse(&self, id: &Value) {
        let error = json!({"code": METHOD_NOT_FOUND, "message": "this client does not know the method"});
        let _ = self.out.send(json!({"id": id, "error": error}).to_string()).await;
    }

    /// From now on the thread's messages come here; an earlier subscription ends.
    pub(super) fn subscribe(&self, thread: &str) -> mpsc::Receiver<Incoming> {
        let (sender, messages) = mpsc::channel(THREAD_MESSAGES_MAX);
        let mut tables = self.tables();
        if !tables.closed {
            tables.threads.insert(thread.to_owned(), sender);
        }
        messages
    }

    /// Nobody wants the thread's messages any more.
    pub(super) fn unsubscribe(&self, thread: &str) {
        self.tables().threads.remove(thread);
    }

    /// Fails what waits and ends every subscription.
    pub(super) fn close(&self) {
        let mut tables = self.tables();
        tables.closed = true;
        tables.pending.clear();
        tables.threads.clear();
    }

    async fn sort(&self, message: Value) {
        let id = message.get("id").cloned();
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            self.settle(id.as_ref().and_then(Value::as_u64), &message);
            return;
        };
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        let thread = self.tables().threads.get(text(&params, "threadId")).cloned();
        match (thread, id) {
            (Some(thread), Some(id)) => {
                if let Err(unsent) = thread.send(Incoming::Request { id, method, params }).await
                    && let Incoming::Request { id, .. } = unsent.0
                {
                    self.refuse(&id).await;
                }
            }
            (Some(thread), None) => drop(thread.send(Incoming::Notification { method, params }).await),
            (None, Some(id)) => self.refuse(&id).await,
            (None, None) => tracing::debug!(method, "codex notification without a Turn"),
        }
    }

    fn settle(&self, id: Option<u64>, message: &Value) {
        let Some(sender) = id.and_then(|id| self.tables().pending.remove(&id)) else { return };
        let answer = match message.get("error") {
            Some(error) => Err(classify::request(text(error, "message"), &self.redact)),
            None => Ok(message.get("result").cloned().unwrap_or(Value::Null)),
        };
        let _ = sender.send(answer);
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a process that is gone.
pub(super) fn exited() -> RuntimeError {
    RuntimeError::new(ErrClass::Exited, "codex has ended")
}

/// Reads lines until the end, a line over the limit, or bytes that are no text.
pub(super) async fn read(connection: &Connection, stdout: ChildStdout, line_bytes_max: usize) {
    let mut lines = FramedRead::new(stdout, LinesCodec::new_with_max_length(line_bytes_max));
    while let Some(line) = lines.next().await {
        match line {
            Ok(line) => {
                if let Ok(message) = serde_json::from_str(&line) {
                    connection.sort(message).await;
                } else {
                    tracing::debug!("codex wrote a line that is not JSON");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "codex broke its framing");
                break;
            }
        }
    }
    connection.close();
}

/// Writes queued lines until the connection's input ends.
pub(super) async fn write(eof: CancellationToken, mut lines: mpsc::Receiver<String>, mut stdin: ChildStdin) {
    loop {
        let line = tokio::select! {
            biased;
            line = lines.recv() => line,
            () = eof.cancelled() => None,
        };
        let Some(mut line) = line else { break };
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
}
