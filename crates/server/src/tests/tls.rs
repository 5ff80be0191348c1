//! The TCP listener with its own certificate.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use loom_domain::Code;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use super::house::{doors, house_with, read_reply, request};
use crate::{ListenConfig, Server, TlsFiles};

const CERT: &str = include_str!("tls/cert.pem");
const KEY: &str = include_str!("tls/key.pem");

fn files(dir: &Path, key_mode: u32) -> TlsFiles {
    let files = TlsFiles { cert: dir.join("cert.pem"), key: dir.join("key.pem") };
    std::fs::write(&files.cert, CERT).unwrap();
    std::fs::write(&files.key, KEY).unwrap();
    std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(key_mode)).unwrap();
    files
}

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERT.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// C.3: with a certificate the listener speaks TLS only, behind the same guards.
#[tokio::test]
async fn the_listener_speaks_tls_only() {
    let dir = tempfile::tempdir().unwrap();
    let house = house_with(|config| config.tls = Some(files(dir.path(), 0o600))).await;
    for (origin, status) in [("https", 200), ("http", 403)] {
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = connector().connect(name, house.tcp().await).await.unwrap();
        let header = format!("origin: {origin}://{}", house.address);
        let text = request("GET /v1/healthz", &house.address.to_string(), &[&header], "");
        stream.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(read_reply(&mut stream).await.status, status, "{origin}");
    }
    assert_eq!(house.over_tcp("GET /v1/healthz", &[], "").await.status, 0);
}

/// ATK-12, ID-15: an open address needs a usable certificate and a key that is private.
#[tokio::test]
async fn atk_12_open_address_with_tls() {
    let dir = tempfile::tempdir().unwrap();
    let config = ListenConfig { address: "0.0.0.0:0".parse().ok(), ..ListenConfig::default() };
    let with = |tls| ListenConfig { tls: Some(tls), ..config.clone() };
    let bind = |config| Server::bind(config, doors(&Arc::default()), CancellationToken::new());
    assert!(bind(with(files(dir.path(), 0o600))).await.is_ok());
    let open_key = bind(with(files(dir.path(), 0o644))).await.err().unwrap();
    assert_eq!(open_key.code, Code::CredentialFileRefused);
    let swapped = files(dir.path(), 0o600);
    std::fs::write(&swapped.cert, KEY).unwrap();
    assert_eq!(bind(with(swapped)).await.err().unwrap().code, Code::InvalidArgument);
}
