//! CAP-053: certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loom_domain::Code;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::{Names, builder};

fn file(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/transport/tls").join(name)
}

/// A host whose certificate nobody signed but itself; it answers each connection with an empty 200.
async fn self_signed() -> (u16, JoinHandle<()>) {
    let certificate = CertificateDer::from_pem_file(file("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let (acceptor, listener) =
        (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that refuses the certificate ends its handshake.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            let _ = stream.shutdown().await;
        }
    });
    (port, task)
}

#[tokio::test]
async fn cap_053_a_self_signed_certificate_needs_its_authority_in_the_ca_file() {
    let (port, task) = self_signed().await;
    let url = format!("https://localhost:{port}/");
    let transport = || builder().resolver(Names::new([&["127.0.0.1"]])).local_origin(&url);
    let error = transport().build().unwrap().get(&url).no_retry().send().await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderNetworkError, Some("tls")));
    let trusting = transport().ca_file(file("cert.pem")).build().unwrap();
    assert_eq!(trusting.get(&url).send().await.unwrap().status(), 200);
    assert_eq!(transport().ca_file(file("key.pem")).build().unwrap_err().code, Code::InvalidInput);
    task.abort();
}
