//! What the listeners are told: the `[listen]` section and the limits of the guards.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use loom_domain::{Code, Error};

/// Default address of the TCP listener.
pub const ADDRESS: &str = "127.0.0.1:4870";

/// Who is believed on the unix socket without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SocketAuth {
    /// A peer of the hub's own uid is the owner.
    #[default]
    Peer,
    /// Everybody needs a token.
    Token,
}

/// The `[listen]` section.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// Address of the TCP listener; `None` serves the socket only.
    pub address: Option<SocketAddr>,
    /// Path of the unix socket; `None` serves TCP only.
    pub socket: Option<PathBuf>,
    /// Who is believed on the socket without a token.
    pub socket_auth: SocketAuth,
    /// Address under which the hub is reached from outside; adds one Host and one Origin.
    pub public_url: Option<String>,
    /// Further Host values, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may read answers.
    pub cors_origins: Vec<String>,
    /// What those pages are told that they may ask for.
    pub cors: Cors,
    /// Certificate and key, when this listener ends TLS itself.
    pub tls: Option<TlsFiles>,
    /// Whether a reverse proxy that ends TLS stands in front.
    pub behind_proxy: bool,
    /// Networks whose forwarded headers are read.
    pub trusted_proxies: Vec<Cidr>,
    /// Limits of guard 1.
    pub connections: ConnectionLimits,
    /// Limits of guards 2, 6, 8 and 9.
    pub requests: RequestLimits,
    /// Limits of event streams.
    pub streams: StreamLimits,
}

impl Default for ListenConfig {
    fn default() -> Self {
        ListenConfig {
            address: ADDRESS.parse().ok(),
            socket: None,
            socket_auth: SocketAuth::Peer,
            public_url: None,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            cors: Cors::default(),
            tls: None,
            behind_proxy: false,
            trusted_proxies: Vec::new(),
            connections: ConnectionLimits::default(),
            requests: RequestLimits::default(),
            streams: StreamLimits::default(),
        }
    }
}

impl ListenConfig {
    /// Refuses what is no origin of a web page: a scheme, a host and, if it is not the scheme's own, a port.
    pub fn check_origin(text: &str) -> Result<(), Error> {
        let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let stands =
            authority.is_some_and(|authority| !authority.is_empty() && authority.bytes().all(is_of_host));
        if stands {
            Ok(())
        } else {
            Err(Error::invalid("origin", "expected an origin such as https://desk.example"))
        }
    }

    /// Refuses what is no host with or without a port.
    pub fn check_host(text: &str) -> Result<(), Error> {
        let stands = !text.is_empty() && !text.ends_with('.') && text.bytes().all(is_of_host);
        if stands { Ok(()) } else { Err(Error::invalid("host", "expected a host such as loom.example:8765")) }
    }

    /// Refuses an address that others can reach without TLS, own or of a declared proxy.
    pub fn check_bind(&self) -> Result<(), Error> {
        let Some(address) = self.address else { return Ok(()) };
        let proxied = self.behind_proxy && self.public_url.is_some() && !self.trusted_proxies.is_empty();
        if address.ip().is_loopback() || proxied || self.tls.is_some() {
            return Ok(());
        }
        Err(Error::new(Code::InsecureBind, format!("{address} is not a loopback address"))
            .with_detail("address", address.to_string()))
    }
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']')
}

/// Methods and headers that a preflight of a listed origin names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cors {
    /// Methods.
    pub methods: &'static str,
    /// Request headers.
    pub headers: &'static str,
}

impl Cors {
    /// Those of a server that only watches.
    pub const WATCHING: Cors =
        Cors { methods: "GET, HEAD, POST", headers: "Authorization, Content-Type, Idempotency-Key" };
}

impl Default for Cors {
    fn default() -> Self {
        Cors {
            methods: "GET, POST, PUT, PATCH, DELETE",
            headers: "Authorization, Content-Type, If-Match, Last-Event-ID, Prefer",
        }
    }
}

/// Where certificate and key of the TCP listener lie, both PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate chain, the hub's own first.
    pub cert: PathBuf,
    /// Its private key, a private file.
    pub key: PathBuf,
}

/// Limits of guard 1.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Open connections.
    pub connections_max: usize,
    /// Open connections of one peer.
    pub per_peer_max: usize,
    /// Requests in work.
    pub in_work_max: usize,
    /// Time from the first byte of a request to the end of its headers.
    pub header_read: Duration,
    /// Time a connection may stand without a request.
    pub idle: Duration,
    /// Time a peer may refuse to take bytes of an answer.
    pub write_stall: Duration,
    /// Time that requests get to end when the hub stops.
    pub drain: Duration,
}

impl ConnectionLimits {
    /// What of a limit those take who cannot be the owner: an eighth stays free.
    pub(crate) fn of_others(limit: usize) -> usize {
        limit - limit / 8
    }
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            connections_max: 256,
            per_peer_max: 32,
            in_work_max: 64,
            header_read: Duration::from_secs(5),
            idle: Duration::from_secs(30),
            write_stall: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }
}

/// Limits of guards 2, 6, 8 and 9.
#[derive(Debug, Clone)]
pub struct RequestLimits {
    /// Bytes of path and query.
    pub uri_bytes_max: usize,
    /// Header fields.
    pub fields_max: usize,
    /// Bytes of all header fields.
    pub header_bytes_max: usize,
    /// Refused credentials of one peer before the pause.
    pub auth_failures_max: u32,
    /// Window in which they are counted.
    pub auth_window: Duration,
    /// Pause after too many of them.
    pub auth_pause: Duration,
    /// Requests per second and principal.
    pub rate_per_s: u32,
    /// Requests a principal may make at once.
    pub rate_burst: u32,
    /// Bytes of a JSON body.
    pub body_bytes_max: usize,
    /// Bytes of an uploaded Artifact.
    pub artifact_bytes_max: usize,
    /// Time to receive a JSON body.
    pub body_read: Duration,
    /// Least speed of an upload, in bytes per second, after `body_read`.
    pub upload_bytes_per_s_min: u64,
    /// Nesting depth of JSON.
    pub json_depth_max: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        RequestLimits {
            uri_bytes_max: 4 * 1024,
            fields_max: 64,
            header_bytes_max: 16 * 1024,
            auth_failures_max: 10,
            auth_window: Duration::from_mins(1),
            auth_pause: Duration::from_mins(1),
            rate_per_s: 50,
            rate_burst: 100,
            body_bytes_max: 1024 * 1024,
            artifact_bytes_max: 25 * 1024 * 1024,
            body_read: Duration::from_secs(10),
            upload_bytes_per_s_min: 1024,
            json_depth_max: 32,
        }
    }
}

/// Limits of event streams.
#[derive(Debug, Clone)]
pub struct StreamLimits {
    /// Streams open at once.
    pub streams_max: usize,
    /// Time between comments that keep a stream alive.
    pub comment_every: Duration,
}

impl Default for StreamLimits {
    fn default() -> Self {
        StreamLimits { streams_max: 64, comment_every: Duration::from_secs(15) }
    }
}

/// A network in CIDR form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    base: IpAddr,
    bits: u8,
}

impl Cidr {
    /// Whether the address is in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                prefix_equal(u128::from(base.to_bits()) << 96, u128::from(address.to_bits()) << 96, self.bits)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                prefix_equal(base.to_bits(), address.to_bits(), self.bits)
            }
            _ => false,
        }
    }
}

fn prefix_equal(left: u128, right: u128, bits: u8) -> bool {
    bits == 0 || (left ^ right) >> (128 - u32::from(bits)) == 0
}

impl FromStr for Cidr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::invalid("listen.trusted_proxies", format!("{text} is not a network such as 10.0.0.0/8"))
        };
        let (base, bits) = text.split_once('/').unwrap_or((text, ""));
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let bits_max = if base.is_ipv4() { 32 } else { 128 };
        let bits = if bits.is_empty() { bits_max } else { bits.parse().map_err(|_| wrong())? };
        if bits > bits_max { Err(wrong()) } else { Ok(Cidr { base, bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses_only() {
        let net: Cidr = "10.1.0.0/16".parse().unwrap();
        assert!(net.contains("10.1.255.1".parse().unwrap()));
        assert!(net.contains("::ffff:10.1.0.1".parse().unwrap()));
        assert!(!net.contains("10.2.0.1".parse().unwrap()));
        let one: Cidr = "::1".parse().unwrap();
        assert!(one.contains("::1".parse().unwrap()));
        assert!(!one.contains("::2".parse().unwrap()));
        assert!("10.0.0.0/33".parse::<Cidr>().is_err());
    }

    /// ATK-12: an open address needs a statement about TLS.
    #[test]
    fn atk_12_open_bind_is_refused() {
        let mut config = ListenConfig { address: "0.0.0.0:4870".parse().ok(), ..ListenConfig::default() };
        assert_eq!(config.check_bind().unwrap_err().code, Code::InsecureBind);
        config.behind_proxy = true;
        assert_eq!(config.check_bind().unwrap_err().code, Code::InsecureBind);
        config.public_url = Some("https://loom.example".into());
        config.trusted_proxies = vec!["10.0.0.1/32".parse().unwrap()];
        assert!(config.check_bind().is_ok());
        assert!(ListenConfig::default().check_bind().is_ok());
    }
}
