//! Socket Mode sockets: ticket, hello, pings, acknowledgements, the ways they end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{Request, header};
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use url::form_urlencoded;

use super::answer::{Answer, Outcome};
use super::delivery::Command;
use super::shared::Shared;
use super::world::World;

/// Frames waiting for one socket.
const QUEUE_MAX: usize = 4096;
/// Slack leaves TCP open after the close handshake; so does the twin, this long.
const LINGER: Duration = Duration::from_secs(2);
/// Hint of the planned recycle, in seconds.
const CONNECTION_TIME_SECS: u64 = 18_060;

/// `GET /link/?ticket=…`: takes the ticket and turns the connection into a socket.
pub(super) fn upgrade(shared: &Arc<Shared>, mut request: Request<Incoming>) -> Outcome {
    let query = request.uri().query().unwrap_or_default();
    let ticket = form_urlencoded::parse(query.as_bytes()).find(|(k, _)| k == "ticket");
    let ticket = ticket.map(|(_, v)| v.into_owned()).unwrap_or_default();
    let valid = shared.change(|world| {
        *world.calls.entry("link".into()).or_default() += 1;
        world.tickets.remove(&ticket)
    });
    let Some(key) = request.headers().get(header::SEC_WEBSOCKET_KEY).filter(|_| valid) else {
        return Outcome::Answer(Answer::text(401, "expired or unknown ticket"));
    };
    let accept = derive_accept_key(key.as_bytes());
    shared.spawn(run(Arc::clone(shared), hyper::upgrade::on(&mut request)));
    let answer = Answer::text(101, "")
        .with_header("connection", "Upgrade".into())
        .with_header("upgrade", "websocket".into())
        .with_header("sec-websocket-accept", accept);
    Outcome::Answer(answer)
}

type Stream = WebSocketStream<TokioIo<Upgraded>>;

async fn run(shared: Arc<Shared>, upgrade: OnUpgrade) {
    let Ok(upgraded) = upgrade.await else { return };
    let mut ws = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    let (tx, rx) = mpsc::channel(QUEUE_MAX);
    let opened = shared.change(|world| open(world, tx));
    match opened {
        Err(refusal) => {
            let _ = ws.send(Message::text(refusal)).await;
            let _ = ws.close(None).await;
        }
        Ok((id, hello)) => {
            if ws.send(Message::text(hello)).await.is_ok() {
                talk(&shared, id, &mut ws, rx).await;
            }
            shared.change(|world| world.delivery.closed(id));
        }
    }
    tokio::time::sleep(LINGER).await;
}

fn open(world: &mut World, tx: mpsc::Sender<Command>) -> Result<(u64, String), String> {
    if world.delivery.sockets.len() >= world.knobs.max_sockets {
        return Err(disconnect_frame("too_many_websockets"));
    }
    let id = world.delivery.open(tx);
    let hello = json!({"type": "hello", "num_connections": world.delivery.sockets.len(),
        "connection_info": {"app_id": world.cfg.app},
        "debug_info": {"host": host(id), "started": "2026-01-01 00:00:00.000", "build_number": 10,
            "approximate_connection_time": CONNECTION_TIME_SECS}});
    Ok((id, hello.to_string()))
}

fn host(id: u64) -> String {
    format!("applink-{id}")
}

/// The frame that announces the end of a socket.
pub(super) fn disconnect_frame(reason: &str) -> String {
    json!({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-twin"}}).to_string()
}

async fn talk(shared: &Arc<Shared>, id: u64, ws: &mut Stream, mut commands: mpsc::Receiver<Command>) {
    let every = shared.read(|world| world.cfg.ping_every).max(Duration::from_millis(1));
    let mut ping = tokio::time::interval(every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Send(frame)) => {
                    if ws.send(Message::text(frame)).await.is_err() { return }
                }
                Some(Command::Stall) => std::future::pending().await,
                Some(Command::Close) => {
                    let _ = ws.close(None).await;
                    let _ = tokio::time::timeout(LINGER, async { while let Some(Ok(frame)) = ws.next().await {
                        acknowledge(shared, &frame);
                    } }).await;
                    return;
                }
                Some(Command::Abort) | None => return,
            },
            frame = ws.next() => match frame {
                Some(Ok(frame)) => acknowledge(shared, &frame),
                Some(Err(_)) | None => return,
            },
            _ = ping.tick() => {
                let text = format!("Ping from {}", host(id));
                if ws.send(Message::Ping(text.into())).await.is_err() { return }
            }
        }
    }
}

fn acknowledge(shared: &Arc<Shared>, frame: &Message) {
    let Message::Text(text) = frame else { return };
    let frame: Option<Value> = serde_json::from_str(text.as_str()).ok();
    let envelope = frame.as_ref().and_then(|f| f.get("envelope_id")).and_then(Value::as_str);
    if let Some(envelope) = envelope {
        shared.change(|world| world.delivery.acknowledge(envelope));
    }
}
