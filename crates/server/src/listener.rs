//! The listeners: a unix socket and a TCP port, served together and stopped together.

mod answer;
mod connection;
mod linger;
mod pulse;
mod slots;
mod timed;
mod tls;
mod unix;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use loom_domain::Error;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::{App, Doors, ListenConfig, Peer, routes};
use slots::Slots;
use unix::Socket;

pub use unix::socket_path;

/// Rest after a failed accept, so that a full descriptor table does not spin.
const ACCEPT_REST: Duration = Duration::from_millis(50);
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

/// A server that is bound and not yet serving.
pub struct Server {
    app: App,
    router: axum::Router,
    tcp: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
    socket: Option<Socket>,
    slots: Slots,
    stop: CancellationToken,
}

enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
    Failed(std::io::Error),
}

impl Server {
    /// Binds what the configuration names. Fails with `insecure_bind` before any port is open.
    pub async fn bind(config: ListenConfig, doors: Doors, stop: CancellationToken) -> Result<Self, Error> {
        Server::bind_routes(config, doors, stop, routes::router).await
    }

    /// Binds the routes of a server that only watches.
    pub async fn bind_watching(
        config: ListenConfig,
        doors: Doors,
        stop: CancellationToken,
    ) -> Result<Self, Error> {
        Server::bind_routes(config, doors, stop, routes::watching).await
    }

    /// Binds with the given routes behind the guards.
    pub(crate) async fn bind_routes(
        config: ListenConfig,
        doors: Doors,
        stop: CancellationToken,
        routes: fn(&App) -> axum::Router,
    ) -> Result<Self, Error> {
        config.check_bind()?;
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let tcp = match config.address {
            Some(address) => Some(TcpListener::bind(address).await.map_err(|error| {
                Error::invalid("listen.address", format!("{address} cannot be bound: {error}"))
                    .with_hint("Stop what holds it, or set another listen.address (LOOM_LISTEN__ADDRESS).")
            })?),
            None => None,
        };
        let bound = tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let socket = config.socket.as_deref().map(Socket::bind).transpose()?;
        let slots = Slots::new(&config.connections);
        let app = App::new(config, doors, bound, stop.clone())?;
        Ok(Server { router: routes(&app), app, tcp, tls, socket, slots, stop })
    }

    /// Address of the TCP listener.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }

    /// Path of the unix socket.
    pub fn socket_path(&self) -> Option<&Path> {
        self.socket.as_ref().map(Socket::path)
    }

    /// Serves until stopped; then lets open requests end within the drain time.
    pub async fn serve(self) {
        let mut connections = JoinSet::new();
        let (events, stop) = (self.app.doors().events.clone(), self.stop.clone());
        connections.spawn(async move { events.pump(stop).await });
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                accepted = self.accept() => self.take(accepted, &mut connections).await,
                Some(ended) = connections.join_next() => note(ended),
            }
        }
        let drain = self.app.config().connections.drain;
        drop((self.tcp, self.socket));
        let all_ended = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(drain, all_ended).await;
        connections.shutdown().await;
    }

    async fn accept(&self) -> Accepted {
        tokio::select! {
            accepted = accept_tcp(self.tcp.as_ref()) => accepted,
            accepted = accept_unix(self.socket.as_ref()) => accepted,
        }
    }

    async fn take(&self, accepted: Accepted, connections: &mut JoinSet<()>) {
        match accepted {
            Accepted::Tcp(stream, address) => {
                let peer = Peer::Address(address.ip().to_canonical());
                // Answers are written whole; waiting to fill a segment only adds delay.
                let _ = stream.set_nodelay(true);
                match self.slots.take(&peer) {
                    Some(slot) => self.start_tcp(stream, peer, slot, connections),
                    None => drop(stream.try_write(REFUSAL)),
                }
            }
            Accepted::Unix(stream) => {
                let Some(peer) = unix::peer_of(&stream, &self.app.doors().is_runtime_child) else { return };
                match self.slots.take(&peer) {
                    Some(slot) => self.start(stream, peer, slot, connections),
                    None => drop(stream.try_write(REFUSAL)),
                }
            }
            Accepted::Failed(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }

    fn start_tcp(&self, stream: TcpStream, peer: Peer, slot: slots::Slot, connections: &mut JoinSet<()>) {
        let Some(tls) = self.tls.clone() else { return self.start(stream, peer, slot, connections) };
        let (app, router, stop) = (self.app.clone(), self.router.clone(), self.stop.clone());
        connections.spawn(async move {
            let limit = app.config().connections.header_read;
            if let Some(stream) = tls::handshake(&tls, stream, limit).await {
                connection::serve(stream, peer, slot.pulse.clone(), app, router, stop).await;
            }
            drop(slot);
        });
    }

    fn start<S: connection::Stream>(
        &self,
        stream: S,
        peer: Peer,
        slot: slots::Slot,
        connections: &mut JoinSet<()>,
    ) {
        let (app, router, stop) = (self.app.clone(), self.router.clone(), self.stop.clone());
        connections.spawn(async move {
            connection::serve(stream, peer, slot.pulse.clone(), app, router, stop).await;
            drop(slot);
        });
    }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection's task failed");
    }
}

async fn accept_tcp(listener: Option<&TcpListener>) -> Accepted {
    match listener {
        Some(listener) => match listener.accept().await {
            Ok((stream, address)) => Accepted::Tcp(stream, address),
            Err(error) => Accepted::Failed(error),
        },
        None => std::future::pending().await,
    }
}

async fn accept_unix(socket: Option<&Socket>) -> Accepted {
    match socket {
        Some(socket) => match socket.accept().await {
            Ok(stream) => Accepted::Unix(stream),
            Err(error) => Accepted::Failed(error),
        },
        None => std::future::pending().await,
    }
}
