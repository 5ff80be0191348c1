//! Proxies: named by the owner's settings or a Connection, never by an input, an answer or an agent.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use loom_domain::{Code, Error, Result};

use crate::egress::Cidr;

/// How to speak to a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyScheme {
    /// CONNECT over TCP.
    Http,
    /// CONNECT over TLS.
    Https,
    /// SOCKS version 5.
    Socks5,
}

/// One proxy.
#[derive(Debug, Clone)]
pub struct Proxy {
    pub(crate) scheme: ProxyScheme,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Proxy {
    /// Parses `http://`, `https://`, `socks5://` or `socks5h://` with a host and port. User information is refused.
    pub fn parse(text: &str) -> Result<Self> {
        let url = url::Url::parse(text)
            .map_err(|_| Error::invalid("proxy", "expected a URL such as http://host:port"))?;
        let (scheme, default_port) = match url.scheme() {
            "http" => (ProxyScheme::Http, 80),
            "https" => (ProxyScheme::Https, 443),
            "socks5" | "socks5h" => (ProxyScheme::Socks5, 1080),
            other => return Err(Error::invalid("proxy", format!("scheme {other} is not a proxy scheme"))),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::new(Code::SecretInInput, "a proxy URL with a literal login is refused"));
        }
        let host =
            url.host_str().filter(|h| !h.is_empty()).ok_or_else(|| Error::invalid("proxy", "no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Proxy { scheme, host, port: url.port().unwrap_or(default_port) })
    }

    pub(crate) fn key(&self) -> String {
        format!("{:?} {}:{}", self.scheme, self.host, self.port)
    }
}

/// Which requests go through which proxy.
#[derive(Debug, Clone, Default)]
pub struct ProxySetting {
    https: Option<Arc<Proxy>>,
    http: Option<Arc<Proxy>>,
    bypass: NoProxy,
}

impl ProxySetting {
    /// Direct connections.
    pub fn none() -> Self {
        Self::default()
    }

    /// One proxy for every request but those to the `no_proxy` hosts.
    pub fn fixed(proxy: Proxy, no_proxy: &str) -> Self {
        let proxy = Arc::new(proxy);
        ProxySetting { https: Some(Arc::clone(&proxy)), http: Some(proxy), bypass: NoProxy::parse(no_proxy) }
    }

    /// Parses a setting: `none`, `env` (looked up in `environment`, lower case first) or a proxy URL.
    pub fn parse(text: &str, environment: &BTreeMap<String, String>) -> Result<Self> {
        let value = |name: &str| {
            let found = environment.get(name).or_else(|| environment.get(&name.to_ascii_uppercase()));
            found.map(String::as_str).filter(|v| !v.is_empty())
        };
        let no_proxy = value("no_proxy").unwrap_or_default();
        match text {
            "" | "none" => Ok(Self::none()),
            "env" => {
                let of = |name| value(name).or_else(|| value("all_proxy")).map(Proxy::parse).transpose();
                Ok(ProxySetting {
                    https: of("https_proxy")?.map(Arc::new),
                    http: of("http_proxy")?.map(Arc::new),
                    bypass: NoProxy::parse(no_proxy),
                })
            }
            url => Ok(Self::fixed(Proxy::parse(url)?, no_proxy)),
        }
    }

    /// The proxy for a target, if any.
    pub(crate) fn choose(&self, host: &str, literal: Option<IpAddr>, tls: bool) -> Option<Arc<Proxy>> {
        let proxy = if tls { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.bypass.covers(host, literal)).cloned()
    }
}

/// The hosts that are reached directly: names, `.suffix`, address ranges, `*`.
#[derive(Debug, Clone, Default)]
struct NoProxy {
    every: bool,
    names: Vec<String>,
    ranges: Vec<Cidr>,
}

impl NoProxy {
    fn parse(text: &str) -> Self {
        let mut rules = NoProxy::default();
        for entry in text.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            match entry.parse::<Cidr>() {
                _ if entry == "*" => rules.every = true,
                Ok(range) => rules.ranges.push(range),
                Err(_) => rules.names.push(entry.to_ascii_lowercase()),
            }
        }
        rules
    }

    fn covers(&self, host: &str, literal: Option<IpAddr>) -> bool {
        self.every
            || literal.is_some_and(|ip| self.ranges.iter().any(|r| r.contains(ip)))
            || self.names.iter().any(|n| n == host || (n.starts_with('.') && host.ends_with(n.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(environment: &[(&str, &str)], host: &str, tls: bool) -> Option<String> {
        let variables =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let setting = ProxySetting::parse("env", &variables).unwrap();
        setting.choose(host, host.parse().ok(), tls).map(|proxy| format!("{}:{}", proxy.host, proxy.port))
    }

    #[test]
    fn cap_052_the_environment_names_a_proxy_per_scheme_and_lower_case_wins() {
        let both = [
            ("HTTPS_PROXY", "http://upper:1"),
            ("https_proxy", "socks5h://lower:2"),
            ("ALL_PROXY", "http://all:3"),
        ];
        assert_eq!(chosen(&both, "h.example", true).as_deref(), Some("lower:2"));
        assert_eq!(chosen(&both, "h.example", false).as_deref(), Some("all:3"));
        assert_eq!(chosen(&both[..1], "h.example", true).as_deref(), Some("upper:1"));
        assert_eq!(chosen(&both[..1], "h.example", false), None);
        assert_eq!(chosen(&[("https_proxy", "")], "h.example", true), None);
    }

    #[test]
    fn cap_052_no_proxy_takes_hosts_suffixes_ranges_and_everything() {
        let direct = |no_proxy: &str, host: &str| {
            chosen(&[("https_proxy", "http://p:1"), ("no_proxy", no_proxy)], host, true).is_none()
        };
        let list = "h.example, .corp.example,10.0.0.0/8,2001:db8::/32,192.0.2.7";
        for host in ["h.example", "a.corp.example", "10.1.2.3", "2001:db8::1", "192.0.2.7"] {
            assert!(direct(list, host), "{host}");
        }
        for host in ["a.h.example", "corp.example", "xcorp.example", "11.1.2.3", "192.0.2.8"] {
            assert!(!direct(list, host), "{host}");
        }
        assert!(direct("*", "anything.example"));
        assert!(!direct("", "anything.example"));
    }
}
