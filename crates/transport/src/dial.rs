//! Opens connections: to checked addresses only, through a proxy if one is set, with TLS if asked for.

mod connect_proxy;
mod io;
mod socks;
pub(crate) mod tls;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::backend::Destination;
use crate::dns::Resolve;
use crate::fault::{NetworkFault, Phase};
use crate::proxy::{Proxy, ProxyScheme};

pub(crate) use io::Activity;
pub use io::Socket;

/// Shortest time one address gets when several share the limit.
const ADDRESS_TIME_MIN: Duration = Duration::from_millis(500);

/// Opens connections.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    pub(crate) tls: Arc<rustls::ClientConfig>,
    pub(crate) resolver: Arc<dyn Resolve>,
}

impl Dialer {
    /// Connects within the limit; gives the socket and the address it leads to.
    pub(crate) async fn dial(
        &self,
        to: &Destination,
        limit: Duration,
    ) -> Result<(Socket, SocketAddr), NetworkFault> {
        let until = Instant::now() + limit;
        let (socket, address) = match &to.proxy {
            None => {
                let stream = connect_any(&to.addresses, to.port, until).await?;
                let address =
                    stream.peer_addr().map_err(|_| NetworkFault::network(Phase::Connect, "no peer"))?;
                (Socket::plain(stream), address)
            }
            Some(proxy) => self.through(proxy, to, until).await?,
        };
        if !to.tls {
            return Ok((socket, address));
        }
        Ok((self.secure(socket, &to.host, Phase::Tls, until).await?, address))
    }

    async fn through(
        &self,
        proxy: &Proxy,
        to: &Destination,
        until: Instant,
    ) -> Result<(Socket, SocketAddr), NetworkFault> {
        let reach = async {
            let addresses = self.proxy_addresses(proxy).await?;
            let stream =
                connect_any(&addresses, proxy.port, until).await.map_err(|f| proxy_fault(&f.message))?;
            let address = stream.peer_addr().map_err(|_| proxy_fault("it closed the connection"))?;
            let socket = Socket::plain(stream);
            let socket = match proxy.scheme {
                ProxyScheme::Https => self.secure(socket, &proxy.host, Phase::Proxy, until).await?,
                ProxyScheme::Http | ProxyScheme::Socks5 => socket,
            };
            let socket = match proxy.scheme {
                ProxyScheme::Socks5 => socks::ask(socket, to).await?,
                ProxyScheme::Http | ProxyScheme::Https => connect_proxy::ask(socket, to).await?,
            };
            Ok((socket, address))
        };
        timeout_at(until, reach).await.unwrap_or_else(|_| Err(proxy_fault("it does not answer in time")))
    }

    async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<IpAddr>, NetworkFault> {
        match proxy.host.parse() {
            Ok(literal) => Ok(vec![literal]),
            Err(_) => {
                self.resolver.resolve(&proxy.host).await.map_err(|_| proxy_fault("its name does not resolve"))
            }
        }
    }

    async fn secure(
        &self,
        socket: Socket,
        host: &str,
        phase: Phase,
        until: Instant,
    ) -> Result<Socket, NetworkFault> {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare)
            .map_err(|_| NetworkFault::network(phase, "the host is no TLS name"))?;
        let handshake = TlsConnector::from(Arc::clone(&self.tls)).connect(name, socket);
        match timeout_at(until, handshake).await {
            Ok(Ok(stream)) => Ok(Socket::tls(stream)),
            Ok(Err(error)) => Err(NetworkFault::network(
                phase,
                format!("the TLS handshake failed: {}", tls::trouble(&error)),
            )),
            Err(_) if phase == Phase::Proxy => Err(proxy_fault("it does not answer in time")),
            Err(_) => Err(NetworkFault::timeout(Phase::Connect)),
        }
    }
}

/// Tries the addresses in order; each gets its share of the time that is left.
async fn connect_any(addresses: &[IpAddr], port: u16, until: Instant) -> Result<TcpStream, NetworkFault> {
    let mut last = NetworkFault::network(Phase::Connect, "there is no address to connect to");
    for (index, ip) in addresses.iter().enumerate() {
        let now = Instant::now();
        let left = u32::try_from(addresses.len() - index).unwrap_or(1);
        let share = (until.saturating_duration_since(now) / left).max(ADDRESS_TIME_MIN);
        match timeout_at(until.min(now + share), TcpStream::connect((*ip, port))).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last = NetworkFault::network(Phase::Connect, connect_trouble(&error)),
            Err(_) => last = NetworkFault::timeout(Phase::Connect),
        }
    }
    Err(last)
}

fn connect_trouble(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "the connection was refused",
        std::io::ErrorKind::HostUnreachable | std::io::ErrorKind::NetworkUnreachable => {
            "the host cannot be reached"
        }
        _ => "the connection could not be opened",
    }
}

/// A proxy that cannot be used; there is never a direct fallback.
fn proxy_fault(why: &str) -> NetworkFault {
    NetworkFault::network(Phase::Proxy, format!("the proxy cannot be used: {why}"))
}

/// How a proxy is told where to go: a checked address, or the name if the proxy resolves.
fn spoken_host(to: &Destination) -> String {
    match to.addresses.first() {
        Some(IpAddr::V4(ip)) => ip.to_string(),
        Some(IpAddr::V6(ip)) => format!("[{ip}]"),
        None => to.host.clone(),
    }
}
