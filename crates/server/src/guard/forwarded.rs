//! The peer behind a declared proxy. Forwarded headers of anybody else are not read.

use std::net::IpAddr;

use http::HeaderMap;

use crate::{ListenConfig, Peer};

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address to throttle by: the last one in the list that is not itself a trusted proxy.
pub(super) fn peer_of(config: &ListenConfig, headers: &HeaderMap, peer: &Peer) -> Peer {
    let trusted = |address: IpAddr| config.trusted_proxies.iter().any(|net| net.contains(address));
    let Peer::Address(direct) = peer else { return peer.clone() };
    if !config.behind_proxy || !trusted(*direct) {
        return peer.clone();
    }
    let last = headers.get_all(FORWARDED_FOR).iter().next_back().and_then(|value| value.to_str().ok());
    let client = last
        .unwrap_or_default()
        .rsplit(',')
        .map_while(|entry| entry.trim().parse::<IpAddr>().ok())
        .find(|address| !trusted(*address));
    client.map_or_else(|| peer.clone(), Peer::Address)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ATK-05: forwarded headers count only from a configured proxy, and only for throttling.
    #[test]
    fn atk_05_forwarded_headers() {
        let mut config =
            ListenConfig { trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()], ..ListenConfig::default() };
        let mut headers = HeaderMap::new();
        headers.insert(FORWARDED_FOR, "9.9.9.9, 8.8.8.8, 10.0.0.2".parse().unwrap());
        let proxy = Peer::Address("10.0.0.1".parse().unwrap());
        let other = Peer::Address("127.0.0.1".parse().unwrap());
        assert_eq!(peer_of(&config, &headers, &proxy), proxy);
        config.behind_proxy = true;
        assert_eq!(peer_of(&config, &headers, &proxy), Peer::Address("8.8.8.8".parse().unwrap()));
        assert_eq!(peer_of(&config, &headers, &other), other);
    }
}
