//! A small client: one HTTP connection per call, and a Socket Mode socket.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::slack::{Config, SlackTwin};

pub(super) const BOT: &str = "xoxb-1-twin";
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// A finished HTTP exchange.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A twin that never redelivers within a test.
pub(super) async fn twin() -> SlackTwin {
    SlackTwin::start(Config::default()).await.unwrap()
}

/// A twin that redelivers a hundred times faster than Slack.
pub(super) async fn hasty_twin() -> SlackTwin {
    SlackTwin::start(Config { time_scale: 0.01, ..Config::default() }).await.unwrap()
}

/// Sends one request; an error means the connection was cut.
pub(super) async fn send(twin: &SlackTwin, request: Request<Full<Bytes>>) -> Result<Reply, hyper::Error> {
    let stream = TcpStream::connect(twin.address()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    driver.abort();
    Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
}

pub(super) fn request(twin: &SlackTwin, method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header("host", twin.address().to_string())
}

/// Calls a method with JSON arguments and the bot token.
pub(super) async fn try_call(
    twin: &SlackTwin,
    method: &str,
    arguments: Value,
) -> Result<Reply, hyper::Error> {
    let body = Bytes::from(arguments.to_string());
    let request = request(twin, "POST", &format!("/api/{method}"))
        .header("authorization", format!("Bearer {BOT}"))
        .header("content-type", "application/json; charset=utf-8");
    send(twin, request.body(Full::new(body)).unwrap()).await
}

/// The same, when an answer must come.
pub(super) async fn call(twin: &SlackTwin, method: &str, arguments: Value) -> Value {
    try_call(twin, method, arguments).await.unwrap().json()
}

/// A Socket Mode connection that has seen hello.
pub(super) struct Socket {
    ws: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(super) hello: Value,
}

pub(super) async fn ticket_url(twin: &SlackTwin) -> String {
    let request = request(twin, "POST", "/api/apps.connections.open");
    let request = request.header("authorization", "Bearer xapp-1-A0001-1-twin");
    let reply = send(twin, request.body(Full::default()).unwrap()).await.unwrap().json();
    reply["url"].as_str().unwrap().to_owned()
}

impl Socket {
    pub(super) async fn open(twin: &SlackTwin) -> Self {
        let (ws, _) = connect_async(ticket_url(twin).await).await.unwrap();
        let mut socket = Self { ws, hello: Value::Null };
        socket.hello = socket.next().await.unwrap();
        socket
    }

    /// The next text frame; none when the socket ended.
    pub(super) async fn next(&mut self) -> Option<Value> {
        let frame = async {
            loop {
                match self.ws.next().await {
                    Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).ok(),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                    Some(Ok(_)) => {}
                }
            }
        };
        tokio::time::timeout(LIMIT, frame).await.unwrap()
    }

    pub(super) async fn ack(&mut self, envelope: &Value) {
        let ack = json!({"envelope_id": envelope["envelope_id"]}).to_string();
        self.ws.send(Message::text(ack)).await.unwrap();
    }

    /// The next event, acknowledged.
    pub(super) async fn event(&mut self) -> Value {
        let envelope = self.next().await.unwrap();
        self.ack(&envelope).await;
        envelope["payload"]["event"].clone()
    }
}
