//! The egress policy: which scheme, host, port and address a request may go to. Decides only; opens nothing.

mod cidr;
mod origin;
mod ranges;

use std::net::IpAddr;

use loom_domain::{Code, Error, Result};
use url::{Host, Url};

pub use cidr::Cidr;
pub use origin::Origin;
pub(crate) use ranges::is_refused;

/// Longest URL in bytes.
pub(crate) const URL_BYTES_MAX: usize = 8_192;

/// Which hosts a request may name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Hosts {
    /// Any public host on port 443.
    #[default]
    AnyPublic,
    /// Exactly these `host` (port 443) or `host:port` entries.
    Only(Vec<String>),
}

/// The owner's rules. Nothing a request, an answer or an agent says can widen them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    pub(crate) local_origins: Vec<Origin>,
    pub(crate) allow_http: bool,
    pub(crate) allow_private: Vec<Cidr>,
}

/// A URL that may be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: bool,
    pub(crate) literal: Option<IpAddr>,
    pub(crate) local: bool,
}

impl Target {
    /// `host:port` as credentials and host rules spell it.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Whether the name itself says loopback.
    pub(crate) fn is_loopback(&self) -> bool {
        self.literal.is_some_and(|ip| ip.is_loopback()) || self.host == "localhost"
    }
}

impl Policy {
    /// Judges everything of the URL but its addresses.
    pub(crate) fn check_url(&self, url: &Url, hosts: &Hosts) -> Result<Target> {
        let tls = match url.scheme() {
            "https" | "wss" => true,
            "http" | "ws" => false,
            other => return Err(denied("scheme", format!("scheme {other} is not allowed"))),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(denied("userinfo", "a URL with user information is refused"));
        }
        let target = target_of(url, tls)?;
        let local = self.local_origins.iter().any(|o| o.matches(&target));
        let target = Target { local, ..target };
        if !tls && !self.plain_allowed(&target) {
            return Err(denied("scheme", "plain http is allowed to loopback local origins only"));
        }
        if !local {
            check_host(&target, hosts)?;
        }
        Ok(target)
    }

    /// Judges every address the name resolved to; one bad address refuses all.
    pub(crate) fn check_addresses(&self, target: &Target, addresses: &[IpAddr]) -> Result<()> {
        match addresses.iter().find(|ip| !self.address_allowed(target, **ip)) {
            None => Ok(()),
            Some(ip) => Err(denied("private_address", "the host resolves to an address that is not public")
                .with_detail("address", ip.to_string())),
        }
    }

    fn plain_allowed(&self, target: &Target) -> bool {
        target.local && (target.is_loopback() || self.allow_http)
    }

    fn address_allowed(&self, target: &Target, ip: IpAddr) -> bool {
        if !is_refused(ip) {
            return target.tls || !target.is_loopback();
        }
        if !target.local {
            return false;
        }
        let ip = ip.to_canonical();
        if ip.is_loopback() {
            return target.is_loopback() || target.tls;
        }
        (target.tls || self.allow_http) && self.allow_private.iter().any(|c| c.contains(ip))
    }
}

fn target_of(url: &Url, tls: bool) -> Result<Target> {
    let literal = match url.host() {
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        Some(Host::Domain(_)) => None,
        None => return Err(invalid_url("host", "the URL has no host")),
    };
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if host.is_empty() || host.ends_with('.') {
        return Err(invalid_url("host", "the URL has no usable host"));
    }
    // A trailing dot hides a numeric spelling from the URL parser in some forms; judge the bare name again.
    let literal = literal.or_else(|| numeric_spelling(&host));
    let port = url.port_or_known_default().unwrap_or(if tls { 443 } else { 80 });
    Ok(Target { host, port, tls, literal, local: false })
}

fn numeric_spelling(host: &str) -> Option<IpAddr> {
    match Host::parse(host) {
        Ok(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Ok(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        _ => None,
    }
}

fn check_host(target: &Target, hosts: &Hosts) -> Result<()> {
    match hosts {
        Hosts::AnyPublic if target.port == 443 => Ok(()),
        Hosts::AnyPublic => Err(denied("port", format!("port {} is not allowed", target.port))),
        Hosts::Only(list) => {
            let named = |e: &&String| entry_host(e).eq_ignore_ascii_case(&target.host);
            let mut of_host = list.iter().filter(named).peekable();
            if of_host.peek().is_none() {
                return Err(denied("host_not_allowed", format!("host {} is not allowed", target.host)));
            }
            if of_host.any(|e| entry_port(e) == target.port) {
                return Ok(());
            }
            Err(denied("port", format!("port {} is not allowed", target.port)))
        }
    }
}

fn split_entry(entry: &str) -> (&str, Option<u16>) {
    match entry.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && !host.ends_with(':') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

fn entry_host(entry: &str) -> &str {
    split_entry(entry).0
}

fn entry_port(entry: &str) -> u16 {
    split_entry(entry).1.unwrap_or(443)
}

/// The `host:port` of a URL, as credential bindings and host rules spell it.
pub fn authority(url: &str) -> Result<String> {
    let url = parse_url(url)?;
    Ok(target_of(&url, matches!(url.scheme(), "https" | "wss"))?.authority())
}

/// An `egress_denied` with its reason.
pub(crate) fn denied(reason: &str, message: impl Into<String>) -> Error {
    Error::new(Code::EgressDenied, message).with_detail("reason", reason)
}

/// An `invalid_url` with the broken rule.
pub(crate) fn invalid_url(rule: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidUrl, message).with_detail("rule", rule)
}

/// Parses a URL within its length limit.
pub(crate) fn parse_url(text: &str) -> Result<Url> {
    if text.len() > URL_BYTES_MAX {
        return Err(invalid_url("length", format!("the URL is longer than {URL_BYTES_MAX} bytes")));
    }
    Url::parse(text).map_err(|e| invalid_url("syntax", format!("the URL cannot be parsed: {e}")))
}

/// Takes every query parameter of that name out of a URL.
pub(crate) fn without_query(url: &mut Url, name: &str) {
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| key != name)
        .map(|(k, v)| (k.into_owned(), v.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

#[cfg(test)]
mod tests;
