//! Private addresses and mail addresses, which only exports hide.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Hits, begins_word, byte_at, is_word, run, run_back};
use crate::Rule;

const LOCAL_PART_BYTES_MAX: usize = 64;
const HOST_BYTES_MAX: usize = 253;
const IPV6_BYTES_MAX: usize = 39;

/// An address, anchored at the byte before its `@`.
pub(in crate::redact) fn email(text: &[u8], at: usize, hits: &mut Hits) {
    let start = at + 1 - run_back(text, at + 1, is_local_part, LOCAL_PART_BYTES_MAX);
    let domain = at + 2;
    let count = run(text, domain, is_host, HOST_BYTES_MAX);
    let host = text.get(domain..domain + count).unwrap_or_default();
    // The top level is the last label that begins with two letters; what follows its letters is none of it.
    // So what another rule cuts off the host makes no address that was none before.
    let letters = |dot: usize| run(host, dot + 1, |byte| byte.is_ascii_alphabetic(), HOST_BYTES_MAX);
    let is_top = |dot: &usize| byte_at(host, *dot) == Some(b'.') && letters(*dot) >= 2;
    let Some(dot) = (1..host.len()).rev().find(is_top) else { return };
    let user_of_url = text.get(..start).is_some_and(|before| before.ends_with(b"://"));
    if !user_of_url {
        hits.add_closed(Rule::Email, start, domain + dot + 1 + letters(dot));
    }
}

/// An IPv4 address of a private or link-local network.
pub(in crate::redact) fn private_ipv4(text: &[u8], at: usize, hits: &mut Hits) {
    let count = run(text, at, |byte| byte.is_ascii_digit() || byte == b'.', 16);
    let Some(address) = parse::<Ipv4Addr>(text, at, count) else { return };
    let inside = at.checked_sub(1).and_then(|at| byte_at(text, at)) == Some(b'.');
    if (address.is_private() || address.is_link_local()) && !inside && begins_word(text, at) {
        hits.add_closed(Rule::PrivateAddress, at, at + count);
    }
}

/// An IPv6 address of a private or link-local network.
pub(in crate::redact) fn private_ipv6(text: &[u8], at: usize, hits: &mut Hits) {
    let count = run(text, at, |byte| byte.is_ascii_hexdigit() || byte == b':', IPV6_BYTES_MAX);
    let Some(address) = parse::<Ipv6Addr>(text, at, count) else { return };
    let private = address.is_unique_local() || address.is_unicast_link_local();
    if private && begins_word(text, at) {
        hits.add_closed(Rule::PrivateAddress, at, at + count);
    }
}

fn parse<T: std::str::FromStr>(text: &[u8], at: usize, count: usize) -> Option<T> {
    std::str::from_utf8(text.get(at..at + count)?).ok()?.parse().ok()
}

/// A host below `.local` or `.internal`, anchored at the dot.
pub(in crate::redact) fn private_host(text: &[u8], at: usize, hits: &mut Hits) {
    let before = run_back(text, at, is_host, HOST_BYTES_MAX);
    let count = run(text, at + 1, is_host, HOST_BYTES_MAX);
    let end = at + 1 + count;
    let top = text.get(at + 1..end).unwrap_or_default();
    let top = top.strip_suffix(b".").unwrap_or(top);
    let private = top.eq_ignore_ascii_case(b"local") || top.eq_ignore_ascii_case(b"internal");
    let named = run_back(text, at, |byte| byte.is_ascii_alphanumeric(), 1) == 1;
    if private && named {
        hits.add_closed(Rule::PrivateAddress, at - before, at + 1 + top.len());
    }
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

fn is_local_part(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'%' | b'+' | b'-')
}
