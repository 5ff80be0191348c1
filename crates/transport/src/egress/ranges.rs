//! The address ranges no request may reach (capabilities specification, 2.7 rules 4 and 5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const V4: &[(u32, u8)] = &[
    (v4(0, 0, 0, 0), 8),
    (v4(10, 0, 0, 0), 8),
    (v4(100, 64, 0, 0), 10),
    (v4(127, 0, 0, 0), 8),
    (v4(169, 254, 0, 0), 16),
    (v4(172, 16, 0, 0), 12),
    (v4(192, 0, 0, 0), 24),
    (v4(192, 0, 2, 0), 24),
    (v4(192, 88, 99, 0), 24),
    (v4(192, 168, 0, 0), 16),
    (v4(198, 18, 0, 0), 15),
    (v4(198, 51, 100, 0), 24),
    (v4(203, 0, 113, 0), 24),
    (v4(224, 0, 0, 0), 4),
    (v4(240, 0, 0, 0), 4),
];

const V6: &[(u128, u8)] = &[
    // A translator of this prefix may hold the IPv4 address in any of the places of RFC 6052.
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 128),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0]), 64),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0]), 16),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8),
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> u32 {
    Ipv4Addr::new(a, b, c, d).to_bits()
}

const fn v6(s: [u16; 8]) -> u128 {
    let [a, b, c, d, e, f, g, h] = s;
    Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits()
}

/// Whether the address lies in a refused range, itself or through the IPv4 address it embeds.
pub(crate) fn is_refused(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => refused_v4(ip),
        IpAddr::V6(ip) => refused_v6(ip) || embedded_v4(ip).is_some_and(refused_v4),
    }
}

fn refused_v4(ip: Ipv4Addr) -> bool {
    V4.iter().any(|(base, prefix)| (base ^ ip.to_bits()) >> (32 - u32::from(*prefix)) == 0)
}

fn refused_v6(ip: Ipv6Addr) -> bool {
    V6.iter().any(|(base, prefix)| (base ^ ip.to_bits()) >> (128 - u32::from(*prefix)) == 0)
}

/// The IPv4 address inside IPv4-mapped, NAT64 and 6to4 addresses; also the long-deprecated IPv4-compatible form.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = ip.to_bits();
    let low = Ipv4Addr::from_bits(u32::try_from(bits & u128::from(u32::MAX)).ok()?);
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(low),
        [0x2002, a, b, ..] => Some(Ipv4Addr::from_bits((u32::from(a) << 16) | u32::from(b))),
        _ => None,
    }
}
