//! An address range such as `10.0.0.0/8`.

use std::net::IpAddr;
use std::str::FromStr;

use loom_domain::Error;

/// An IP address range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    base: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// Whether the address is in the range. An IPv4-mapped IPv6 address counts as IPv4.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.base, ip.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(ip)) => {
                shared(u128::from(base.to_bits()) << 96, u128::from(ip.to_bits()) << 96, self.prefix)
            }
            (IpAddr::V6(base), IpAddr::V6(ip)) => shared(base.to_bits(), ip.to_bits(), self.prefix),
            _ => false,
        }
    }
}

fn shared(base: u128, ip: u128, prefix: u8) -> bool {
    prefix == 0 || (base ^ ip) >> (128 - u32::from(prefix)) == 0
}

impl FromStr for Cidr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid("cidr", "expected an address range such as 10.0.0.0/8");
        let (base, prefix) = match text.split_once('/') {
            Some((base, prefix)) => (base, Some(prefix)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        if prefix > most { Err(wrong()) } else { Ok(Cidr { base, prefix }) }
    }
}
