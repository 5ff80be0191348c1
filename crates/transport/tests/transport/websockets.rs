//! The websocket door.

use futures_util::{SinkExt, StreamExt};
use loom_domain::Code;
use loom_transport::log::MemoryLog;
use loom_transport::{WEBSOCKET_FRAME_BYTES_MAX, WebSocketOptions};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::support::{Peer, builder, reply};

/// Echoes, and answers `big` with a frame over the limit.
pub(crate) struct Echo {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Echo {
    pub(crate) async fn start() -> Echo {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { continue };
                while let Some(Ok(message)) = socket.next().await {
                    let message = match message.to_text() {
                        Ok("big") => Message::text("x".repeat(WEBSOCKET_FRAME_BYTES_MAX + 1)),
                        _ => message,
                    };
                    if socket.send(message).await.is_err() {
                        break;
                    }
                }
            }
        });
        Echo { port, task }
    }
}

#[tokio::test]
async fn a_websocket_passes_the_door_and_is_logged_without_its_ticket() {
    let echo = Echo::start().await;
    let origin = format!("http://127.0.0.1:{}", echo.port);
    let log = Arc::new(MemoryLog::default());
    let transport = builder().local_origin(&origin).log(log.clone()).build().unwrap();
    let url = format!("ws://127.0.0.1:{}/link?ticket=hidden", echo.port);
    let mut socket = transport.connect_websocket(&url, WebSocketOptions::default()).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    let entry = &log.entries()[0];
    assert_eq!(
        (entry.status, entry.path.as_str(), &entry.query_keys[..]),
        (Some(101), "/link", &["ticket".to_owned()][..])
    );
    assert!(!serde_json::to_string(&log.entries()).unwrap().contains("hidden"));

    socket.send(Message::text("big")).await.unwrap();
    assert!(matches!(socket.next().await, Some(Err(Error::Capacity(_)))));
}

#[tokio::test]
async fn a_websocket_keeps_the_egress_rules() {
    let transport = builder().build().unwrap();
    for url in ["ws://127.0.0.1:9/", "wss://10.0.0.1/", "ws://example.com/", "wss://example.com:8443/"] {
        let error = transport.connect_websocket(url, WebSocketOptions::default()).await.unwrap_err();
        assert_eq!(error.code, Code::EgressDenied, "{url}");
    }
}

#[tokio::test]
async fn a_refused_handshake_tells_its_status() {
    for (status, code) in [("401 No", Code::ProviderAuthError), ("302 Go", Code::ProviderRedirectRefused)] {
        let peer = Peer::start([reply(status, "", b"")]).await;
        let url = format!("ws://{}/", peer.address);
        let error = peer.transport().connect_websocket(&url, WebSocketOptions::default()).await.unwrap_err();
        assert_eq!(error.code, code);
        assert!(error.http_status.is_some());
    }
}
