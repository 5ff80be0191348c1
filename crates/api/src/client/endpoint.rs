//! Where a hub answers.

use std::path::PathBuf;

use loom_domain::{Code, Error, Result};
use url::{Host, Url};

/// Port of a hub when a URL names none.
const PORT_DEFAULT: u16 = 4870;

/// Where a hub answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// The hub's unix socket.
    Unix(PathBuf),
    /// Plain http on the loopback interface.
    Http {
        /// Host name or address, as it stands in the Host header.
        host: String,
        /// Port.
        port: u16,
    },
}

impl Endpoint {
    /// Reads `http://127.0.0.1:4870` or `unix:/path/loom.sock`.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Endpoint::Unix(PathBuf::from(path.trim_start_matches("//"))));
        }
        let wrong = |why: &str| Error::new(Code::InvalidUrl, format!("hub URL: {why}"));
        let url = Url::parse(text).map_err(|_| wrong("expected http://HOST:PORT or unix:PATH"))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(Error::new(Code::TokenInUrl, "the hub URL holds more than host and port"));
        }
        if url.scheme() != "http" {
            return Err(wrong("only http on the loopback interface is spoken"));
        }
        match url.host() {
            Some(host) if is_loopback(&host) => Ok(Endpoint::Http {
                host: url.host_str().unwrap_or_default().to_owned(),
                port: url.port().unwrap_or(PORT_DEFAULT),
            }),
            Some(_) => Err(Error::new(Code::InsecureTransport, "plain http to a host that is not loopback")
                .with_hint("Use an ssh tunnel to the hub's loopback address.")),
            None => Err(wrong("the host is missing")),
        }
    }

    /// The value of the Host header.
    pub(super) fn authority(&self) -> String {
        match self {
            Endpoint::Unix(_) => "localhost".to_owned(),
            Endpoint::Http { host, port } => format!("{host}:{port}"),
        }
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Unix(path) => write!(f, "unix:{}", path.display()),
            Endpoint::Http { host, port } => write!(f, "http://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_hubs() {
        let http = |host: &str, port| Endpoint::Http { host: host.to_owned(), port };
        assert_eq!(Endpoint::parse("http://127.0.0.1:9").unwrap(), http("127.0.0.1", 9));
        assert_eq!(Endpoint::parse("http://[::1]").unwrap(), http("[::1]", PORT_DEFAULT));
        assert_eq!(Endpoint::parse("unix:/run/l.sock").unwrap(), Endpoint::Unix("/run/l.sock".into()));
        let code = |text| Endpoint::parse(text).unwrap_err().code;
        assert_eq!(code("http://example.org"), Code::InsecureTransport);
        assert_eq!(code("http://x:y@127.0.0.1"), Code::TokenInUrl);
        assert_eq!(code("ftp://127.0.0.1"), Code::InvalidUrl);
        assert_eq!(code("127.0.0.1"), Code::InvalidUrl);
    }
}
