//! The transport against peers on loopback and against the mock.

#[cfg(test)]
mod caching;
#[cfg(test)]
mod caps;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod egress;
#[cfg(test)]
mod facade;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod proxies;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod sending;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
#[cfg(test)]
mod timeouts;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod tracing_ids;
#[cfg(test)]
mod websockets;
