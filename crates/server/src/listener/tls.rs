//! TLS of the TCP listener.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loom_domain::Error;
use loom_secrets::private_file::read_private;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::TlsFiles;

/// Reads certificate and key; the key must be a private file.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Error> {
    let chain = certificates(&files.cert)?;
    let key = read_private(&files.key)?;
    let key =
        PrivateKeyDer::from_pem_slice(&key).map_err(|_| unusable(&files.key, "it holds no private key"))?;
    let provider = Arc::new(ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable(&files.cert, &error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match certificates {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(unusable(path, "it holds no certificate")),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

fn unusable(path: &Path, why: &str) -> Error {
    Error::invalid("listen.tls", format!("{} cannot be used: {why}", path.display()))
}

/// Shakes hands within the time of guard 1.
pub(super) async fn handshake(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    limit: Duration,
) -> Option<TlsStream<TcpStream>> {
    let shaken = tokio::time::timeout(limit, acceptor.accept(stream)).await;
    shaken.ok()?.inspect_err(|error| tracing::debug!(%error, "a TLS handshake failed")).ok()
}
