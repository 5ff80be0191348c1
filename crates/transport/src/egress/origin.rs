//! A local origin: the scheme, host and port of a base URL that the owner set.

use std::str::FromStr;

use loom_domain::Error;

use super::{Target, invalid_url, parse_url, target_of};

/// Exactly one scheme, host and port. `ws` counts as `http`, `wss` as `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    host: String,
    port: u16,
    tls: bool,
}

impl Origin {
    pub(crate) fn matches(&self, target: &Target) -> bool {
        self.host == target.host && self.port == target.port && self.tls == target.tls
    }
}

impl FromStr for Origin {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let url = parse_url(text)?;
        let tls = match url.scheme() {
            "https" | "wss" => true,
            "http" | "ws" => false,
            _ => return Err(invalid_url("scheme", "a local origin is an http or https URL")),
        };
        let target = target_of(&url, tls)?;
        Ok(Origin { host: target.host, port: target.port, tls })
    }
}
