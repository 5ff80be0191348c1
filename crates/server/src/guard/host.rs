//! Guard 3: the Host header names this hub and nothing else, so a rebound DNS name reaches no route.

use std::net::{IpAddr, SocketAddr};

use http::request::Parts;
use http::{HeaderMap, header};
use loom_domain::{Code, Error};

use crate::{ListenConfig, Peer, Problem};

/// Host values that local clients write on the unix socket, where DNS has no part.
const SOCKET_NAMES: [&str; 3] = ["localhost", "loom", "loom.sock"];

/// The names under which this hub answers, each with its port as it stands in a Host header.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    hosts: Vec<String>,
}

impl Names {
    /// Collects the names of the bound address and of the configuration.
    pub(crate) fn new(config: &ListenConfig, bound: Option<SocketAddr>) -> Result<Self, Error> {
        let mut hosts = bound.map(loopback_names).unwrap_or_default();
        if let Some(url) = &config.public_url {
            hosts.push(authority_of(url)?);
        }
        for name in &config.allowed_hosts {
            let name = name.to_ascii_lowercase();
            if let Some(address) = bound.filter(|_| !has_port(&name)) {
                hosts.push(format!("{name}:{}", address.port()));
            }
            hosts.push(name);
        }
        Ok(Names { hosts })
    }

    /// The names, for the Origin guard.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(super) fn check(&self, parts: &Parts, peer: &Peer) -> Result<(), Problem> {
        let host = single_host(&parts.headers)?;
        let on_socket = matches!(peer, Peer::Socket { .. });
        let known = |name: &str| {
            self.hosts.iter().any(|own| own == name) || (on_socket && SOCKET_NAMES.contains(&name))
        };
        let absolute = parts.uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        if known(&host) && absolute.is_none_or(|authority| authority == host) {
            Ok(())
        } else {
            Err(refused())
        }
    }
}

fn single_host(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (Some(host), None) => host.to_str().map(str::to_ascii_lowercase).map_err(|_| refused()),
        _ => Err(refused()),
    }
}

fn refused() -> Problem {
    Problem::new(Code::HostNotAllowed, "the Host header is missing, doubled or not a name of this hub")
}

fn loopback_names(bound: SocketAddr) -> Vec<String> {
    let port = bound.port();
    let mut names = vec![format!("localhost:{port}")];
    match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => names.push(format!("127.0.0.1:{port}")),
        IpAddr::V6(ip) if ip.is_unspecified() => names.push(format!("[::1]:{port}")),
        ip if ip.is_loopback() => names.push(SocketAddr::new(ip, port).to_string()),
        _ => {}
    }
    names
}

fn has_port(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'))
}

/// Host and, if given, port of a URL, in lower case.
pub(super) fn authority_of(url: &str) -> Result<String, Error> {
    let wrong = || Error::invalid("listen.public_url", "expected a URL such as https://loom.example");
    let uri: http::Uri = url.parse().map_err(|_| wrong())?;
    let authority = uri.authority().ok_or_else(wrong)?.as_str().to_ascii_lowercase();
    if authority.contains('@') { Err(wrong()) } else { Ok(authority) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn check(hosts: &[&str], uri: &str, peer: &Peer) -> bool {
        let config =
            ListenConfig { public_url: Some("https://loom.example".into()), ..ListenConfig::default() };
        let names = Names::new(&config, "127.0.0.1:4870".parse().ok()).unwrap();
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        names.check(&request.body(()).unwrap().into_parts().0, peer).is_ok()
    }

    /// ATK-03: every form of a foreign Host is refused.
    #[test]
    fn atk_03_host_variants() {
        let tcp = Peer::Address("127.0.0.1".parse().unwrap());
        for good in ["127.0.0.1:4870", "localhost:4870", "LOCALHOST:4870", "loom.example"] {
            assert!(check(&[good], "/", &tcp), "{good}");
        }
        for bad in [
            "evil.example:4870",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:4871",
            "localhost.:4870",
            "localhost",
            "[::1]:4870",
            "[::ffff:127.0.0.1]:4870",
            "user@127.0.0.1:4870",
            "2130706433:4870",
            "0.0.0.0:4870",
            "127.1:4870",
            "loom.example.",
            "loom.example:4870",
            "127.0.0.1:04870",
            "",
            "loom",
            " ",
        ] {
            assert!(!check(&[bad], "/", &tcp), "{bad}");
        }
        assert!(!check(&["127.0.0.1:4870", "127.0.0.1:4870"], "/", &tcp));
        assert!(!check(&["127.0.0.1:4870", "evil.example"], "/", &tcp));
        assert!(!check(&[], "/", &tcp));
        assert!(!check(&["127.0.0.1:4870"], "http://evil.example/", &tcp));
    }

    #[test]
    fn the_socket_takes_its_own_names_too() {
        let socket = Peer::Socket { uid: 1, runtime_child: false };
        assert!(check(&["localhost"], "/", &socket));
        assert!(!check(&["evil.example"], "/", &socket));
        assert!(!check(&[], "/", &socket));
    }
}
