//! TLS for PostgreSQL connections: the one stack (rustls with ring) and public roots.

use loom_domain::Result;
use postgres::{Client, Config, NoTls, config::SslMode};
use rustls::{ClientConfig, RootCertStore};

use crate::engine::postgres::translate;

/// Connects with TLS unless the configuration disables it.
pub(crate) fn connect(config: &Config) -> Result<Client> {
    if config.get_ssl_mode() == SslMode::Disable {
        return config.connect(NoTls).map_err(|e| translate(&e));
    }
    config.connect(connector()?).map_err(|e| translate(&e))
}

/// The TLS connector for both drivers.
pub(crate) fn connector() -> Result<tokio_postgres_rustls::MakeRustlsConnect> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(loom_domain::Error::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(tokio_postgres_rustls::MakeRustlsConnect::new(config))
}
