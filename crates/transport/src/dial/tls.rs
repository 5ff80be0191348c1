//! TLS 1.2 and 1.3 over rustls and ring. There is no way to switch verification off.

use std::path::Path;
use std::sync::Arc;

use loom_domain::{Code, Error, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The client configuration: bundled public roots and, if given, those of a PEM file.
pub(crate) fn config(ca_file: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = ca_file {
        add_file(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<()> {
    let wrong =
        || Error::new(Code::InvalidInput, "transport.ca_file is not a readable PEM file of certificates");
    let certificates = CertificateDer::pem_file_iter(path).map_err(|_| wrong())?;
    let mut count = 0;
    for certificate in certificates {
        roots.add(certificate.map_err(|_| wrong())?).map_err(|_| wrong())?;
        count += 1;
    }
    if count == 0 { Err(wrong()) } else { Ok(()) }
}

/// Names the cause of a failed handshake in Loom's words.
pub(crate) fn trouble(error: &std::io::Error) -> &'static str {
    let cause = error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
            "the certificate is not from a trusted issuer"
        }
        Some(rustls::Error::InvalidCertificate(_)) => "the certificate is not valid for this host",
        Some(_) => "the peer does not speak acceptable TLS",
        None => "the connection broke",
    }
}
