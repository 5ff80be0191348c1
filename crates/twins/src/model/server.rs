//! The twin's server: loopback only, counted, logged, stopped by its own handle.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::{get, post};
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::reply::{self, Reply};
use super::sse::{self, Step};
use super::talk::Talk;
use super::{anthropic, chat, responses};

/// Requests kept in the log.
const LOG_MAX: usize = 10_000;
/// Longest request body in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The dialects of the twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `/v1/responses`.
    Responses,
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/messages`.
    Anthropic,
}

/// One model call that came in.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Dialect.
    pub dialect: Dialect,
    /// The last user text.
    pub text: String,
    /// The whole request.
    pub body: Value,
    /// Value of the Authorization or x-api-key header.
    pub authorization: Option<String>,
}

struct Shared {
    log: Mutex<Vec<Logged>>,
    calls: watch::Sender<usize>,
    stop: CancellationToken,
}

/// A running model server. It stops when dropped.
pub struct ModelTwin {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl ModelTwin {
    /// Starts on 127.0.0.1; port 0 takes a free one.
    pub async fn start(port: u16) -> io::Result<ModelTwin> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let shared =
            Arc::new(Shared { log: Mutex::default(), calls: watch::Sender::new(0), stop: stop.clone() });
        let routes = router(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            let ended = axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned());
            drop(ended.await);
        });
        Ok(ModelTwin { address, shared, task })
    }

    /// `http://127.0.0.1:PORT`: the base of the Anthropic dialect.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:PORT/v1`: the base of the two other dialects.
    pub fn v1_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Model calls so far.
    pub fn calls(&self) -> usize {
        *self.shared.calls.borrow()
    }

    /// Model calls whose last user text contains this.
    pub fn calls_with(&self, part: &str) -> usize {
        self.log().iter().filter(|logged| logged.text.contains(part)).count()
    }

    /// Waits until there were at least this many model calls.
    pub async fn wait_calls(&self, count: usize) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.shared.calls.subscribe().wait_for(|calls| *calls >= count).await;
    }

    /// The model calls, oldest first.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops and waits for the end.
    pub async fn shutdown(mut self) {
        self.shared.stop.cancel();
        let _ = (&mut self.task).await;
    }
}

impl Drop for ModelTwin {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        self.task.abort();
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(|| async { "model twin" }))
        .route("/v1/models", get(models))
        .route("/v1/responses", post(on_responses))
        .route("/v1/chat/completions", post(on_chat))
        .route("/v1/messages", post(on_messages))
        .route("/v1/messages/count_tokens", post(|| async { json_answer(200, &json!({"input_tokens": 11})) }))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(shared)
}

async fn models() -> Response {
    let one = json!({"id": "fake-model", "type": "model", "object": "model", "display_name": "Fake",
        "created": 0, "created_at": "2026-01-01T00:00:00Z", "owned_by": "loom"});
    json_answer(200, &json!({"object": "list", "data": [one], "has_more": false}))
}

async fn on_responses(State(shared): State<Arc<Shared>>, headers: http::HeaderMap, body: Bytes) -> Response {
    handle(&shared, Dialect::Responses, &headers, &body, responses::parse, responses::steps)
}

async fn on_chat(State(shared): State<Arc<Shared>>, headers: http::HeaderMap, body: Bytes) -> Response {
    handle(&shared, Dialect::Chat, &headers, &body, chat::parse, chat::steps)
}

async fn on_messages(State(shared): State<Arc<Shared>>, headers: http::HeaderMap, body: Bytes) -> Response {
    handle(&shared, Dialect::Anthropic, &headers, &body, anthropic::parse, anthropic::steps)
}

fn handle(
    shared: &Shared,
    dialect: Dialect,
    headers: &http::HeaderMap,
    body: &[u8],
    parse: fn(&Value) -> Talk,
    steps: fn(Reply, &str, u64) -> Vec<Step>,
) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return json_answer(400, &reply::failure(400));
    };
    let talk = parse(&body);
    let whole = dialect == Dialect::Chat && body.get("stream").and_then(Value::as_bool) != Some(true);
    let id = shared.note(dialect, headers, &talk, body);
    match reply::decide(&talk) {
        Reply::Fail(status) => json_answer(status, &reply::failure(status)),
        reply if whole => json_answer(200, &chat::whole(reply, &talk.model, id)),
        reply => stream_answer(sse::body(steps(reply, &talk.model, id), shared.stop.clone())),
    }
}

impl Shared {
    /// Logs a call and gives its number.
    fn note(&self, dialect: Dialect, headers: &http::HeaderMap, talk: &Talk, body: Value) -> u64 {
        let key = headers.get(header::AUTHORIZATION).or_else(|| headers.get("x-api-key"));
        let authorization = key.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let logged = Logged { dialect, text: talk.last_user().to_owned(), body, authorization };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() < LOG_MAX {
            log.push(logged);
        }
        let mut number = 0;
        self.calls.send_modify(|calls| {
            *calls += 1;
            number = *calls;
        });
        u64::try_from(number).unwrap_or(u64::MAX)
    }
}

fn json_answer(status: u16, body: &Value) -> Response {
    answer(status, "application/json", Body::from(body.to_string()))
}

fn stream_answer(body: Body) -> Response {
    answer(200, "text/event-stream", body)
}

fn answer(status: u16, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}
