//! Name resolution as an argument of the transport.

use std::fmt::Debug;
use std::net::IpAddr;

use async_trait::async_trait;

/// Most addresses taken from one answer.
pub(crate) const ADDRESSES_MAX: usize = 32;

/// Asks for the addresses of a name.
#[async_trait]
pub trait Resolve: Send + Sync + Debug {
    /// The addresses of `host`; an error or an empty list means that the name does not resolve.
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|a| a.ip()).collect())
    }
}
