//! The websocket door: the same egress rules, addresses, proxies and log as any request.

use std::time::Duration;

use http::{HeaderMap, Method};
use loom_domain::Result;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::call::websocket::Opening;
use crate::credential::CredentialBinding;
use crate::dial::Socket;
use crate::fault::{FaultKind, NetworkFault, Phase, Written, stamp};
use crate::proxy::ProxySetting;
use crate::request::Spec;
use crate::trace::TraceContext;
use crate::transport::Transport;

/// Largest frame and message of a websocket.
pub const WEBSOCKET_FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;

/// An open websocket.
pub type WebSocket = WebSocketStream<Socket>;

/// What a websocket needs besides its URL.
#[derive(Debug, Clone, Default)]
pub struct WebSocketOptions {
    /// Further headers of the handshake; those that carry secrets are refused.
    pub headers: Vec<(String, String)>,
    /// Credential, bound to exact hosts.
    pub credential: Option<CredentialBinding>,
    /// Another proxy setting than the transport's.
    pub proxy: Option<ProxySetting>,
    /// Limit for DNS, TCP and TLS.
    pub connect_timeout: Option<Duration>,
    /// Tracing ids.
    pub context: TraceContext,
    /// Provider for errors and the log.
    pub provider: Option<String>,
    /// Operation for errors and the log.
    pub operation: Option<String>,
}

impl WebSocketOptions {
    fn into_spec(self, transport: &Transport, url: &str) -> Result<Spec> {
        let mut spec = Spec::new(transport.settings(), Method::GET, url);
        for (name, value) in &self.headers {
            spec.add_header(name, value)?;
        }
        if let Some(credential) = &self.credential {
            credential.check()?;
        }
        spec.connect_timeout = self.connect_timeout.unwrap_or(spec.connect_timeout);
        spec.credential = self.credential;
        spec.proxy = self.proxy;
        spec.context = self.context;
        spec.provider = self.provider;
        spec.operation = self.operation;
        Ok(spec)
    }
}

impl Transport {
    /// Opens a websocket. `ws` is allowed to loopback local origins only. One attempt; the caller reconnects.
    pub async fn connect_websocket(&self, url: &str, options: WebSocketOptions) -> Result<WebSocket> {
        let opening = options.into_spec(self, url).and_then(|spec| Opening::begin(self.clone(), spec));
        let opening = opening.map_err(|e| stamp(e, Written::No))?;
        Box::pin(opening.run()).await
    }
}

/// Speaks the handshake over a dialled socket.
pub(crate) async fn handshake(
    socket: Socket,
    url: &url::Url,
    headers: HeaderMap,
    limit: Duration,
) -> Result<WebSocket, (NetworkFault, Option<u16>)> {
    let broken = |kind, message: &str| (NetworkFault::receive(kind, message), None);
    let request = url.as_str().into_client_request();
    let mut request = request.map_err(|_| broken(FaultKind::Protocol, "the URL is no websocket URL"))?;
    request.headers_mut().extend(headers);
    let config = WebSocketConfig::default()
        .max_frame_size(Some(WEBSOCKET_FRAME_BYTES_MAX))
        .max_message_size(Some(WEBSOCKET_FRAME_BYTES_MAX));
    let shake = tokio_tungstenite::client_async_with_config(request, socket, Some(config));
    match timeout(limit, shake).await {
        Err(_) => Err((NetworkFault::timeout(Phase::Read), None)),
        Ok(Ok((websocket, _))) => Ok(websocket),
        Ok(Err(tungstenite::Error::Http(answer))) => {
            let fault = NetworkFault::receive(FaultKind::Protocol, "the host refused the websocket");
            Err((fault, Some(answer.status().as_u16())))
        }
        Ok(Err(tungstenite::Error::Io(_))) => {
            Err(broken(FaultKind::Network, "the connection broke in the handshake"))
        }
        Ok(Err(_)) => Err(broken(FaultKind::Protocol, "the answer is no websocket handshake")),
    }
}
