//! Socket Mode sockets: ticket, hello, pings, acknowledgements, the ways they end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{Request, header};
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
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

/// How a socket ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the close handshake; TCP stays open a little.
    Closed,
    /// Without.
    Cut,
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
            let end = match ws.send(Message::text(hello)).await {
                Ok(()) => talk(&shared, id, &mut ws, rx).await,
                Err(_) => End::Cut,
            };
            shared.change(|world| world.delivery.closed(id));
            if end == End::Cut {
                return;
            }
        }
    }
    tokio::time::sleep(LINGER).await;
}

fn open(world: &mut World, tx: mpsc::Sender<Command>) -> Result<(u64, String), String> {
    if world.delivery.sockets.len() >= world.knobs.max_sockets {
        return Err(disconnect_frame("too_many_websockets"));
    }
    let id = world.delivery.open(tx);
    let hello = json!({"type": "hello", "num_connections": world.delivery.sockets.len() + world.knobs.ghost_connections,
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

async fn talk(shared: &Arc<Shared>, id: u64, ws: &mut Stream, mut commands: mpsc::Receiver<Command>) -> End {
    let every = shared.read(|world| world.cfg.ping_every).max(Duration::from_millis(1));
    let mut ping = tokio::time::interval(every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut close_at = None;
    loop {
        let sent = tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Send(frame)) => ws.send(Message::text(frame)).await,
                Some(Command::CloseAfter(wait)) => {
                    close_at = Some(Instant::now() + wait);
                    Ok(())
                }
                Some(Command::Stall) => return swallow(ws).await,
                Some(Command::Abort) | None => return End::Cut,
            },
            frame = ws.next() => match frame {
                Some(Ok(frame)) => {
                    acknowledge(shared, &frame);
                    Ok(())
                }
                Some(Err(_)) | None => return End::Closed,
            },
            _ = ping.tick() => ws.send(Message::Ping(format!("Ping from {}", host(id)).into())).await,
            () = at(close_at) => return close(shared, ws).await,
        };
        if sent.is_err() {
            return End::Cut;
        }
    }
}

/// Completes at the given time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// The half-open socket: bytes go nowhere until the client gives up.
async fn swallow(ws: &mut Stream) -> End {
    let mut nowhere = [0; 4096];
    while ws.get_mut().read(&mut nowhere).await.is_ok_and(|n| n > 0) {}
    End::Cut
}

/// Closes from this side; late acknowledgements still count.
async fn close(shared: &Arc<Shared>, ws: &mut Stream) -> End {
    let _ = ws.close(None).await;
    let rest = async {
        while let Some(Ok(frame)) = ws.next().await {
            acknowledge(shared, &frame);
        }
    };
    let _ = tokio::time::timeout(LINGER, rest).await;
    End::Cut
}

fn acknowledge(shared: &Arc<Shared>, frame: &Message) {
    let Message::Text(text) = frame else { return };
    let frame: Option<Value> = serde_json::from_str(text.as_str()).ok();
    let envelope = frame.as_ref().and_then(|f| f.get("envelope_id")).and_then(Value::as_str);
    if let Some(envelope) = envelope {
        shared.change(|world| world.delivery.acknowledge(envelope));
    }
}
