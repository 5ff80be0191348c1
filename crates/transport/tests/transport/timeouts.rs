//! Time limits and the phases of failures.

use std::time::Duration;

use loom_domain::Code;
use loom_transport::{Written, bytes_written};
use tokio::io::AsyncWriteExt;

use crate::support::{Act, Names, Peer, builder, mocked};

const SHORT: Duration = Duration::from_millis(150);

/// A peer that speaks first, and not TLS. Stops when the set is dropped.
async fn plain_speaker() -> (String, tokio::task::JoinSet<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let mut set = tokio::task::JoinSet::new();
    set.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"220 mail ready\r\n").await;
        }
    });
    (url, set)
}

#[tokio::test]
async fn cap_040_network_failures_have_their_phase() {
    let closing = Peer::start([Act::Close]).await;
    let closed_port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let refused = format!("http://{closed_port}/");
    let (tls, _no_tls) = plain_speaker().await;
    let transport = closing.builder().local_origin(&refused).local_origin(&tls).build().unwrap();
    let rows = [
        ("https://nowhere.example/".to_owned(), "dns", Written::No),
        (refused, "connect", Written::No),
        (tls, "tls", Written::No),
        (closing.url("/"), "receive", Written::Maybe),
    ];
    for (url, phase, written) in rows {
        let error = transport.get(&url).no_retry().send().await.unwrap_err();
        assert_eq!(
            (error.code, error.detail["phase"].as_str()),
            (Code::ProviderNetworkError, Some(phase)),
            "{url}"
        );
        assert_eq!(bytes_written(&error), written, "{url}");
    }
}

#[tokio::test]
async fn cap_041_silence_dripping_and_black_holes() {
    let silent = Peer::start([Act::Silent]).await;
    let error =
        silent.transport().get(&silent.url("/")).no_retry().read_timeout(SHORT).send().await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderTimeout, Some("read")));

    let dripping = Peer::start([Act::Drip(SHORT / 3)]).await;
    let request =
        dripping.transport().get(&dripping.url("/")).no_retry().read_timeout(SHORT * 2).timeout(SHORT * 4);
    let error = request.send().await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderTimeout, Some("total")));

    // A TLS handshake that is never answered belongs to connecting, like a black-holed address.
    let hole = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", hole.local_addr().unwrap());
    let transport = builder().local_origin(&url).build().unwrap();
    let error = transport.get(&url).no_retry().connect_timeout(SHORT).send().await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderTimeout, Some("connect")));
    assert_eq!(bytes_written(&error), Written::No);
}

#[tokio::test]
async fn cap_042_impossible_timeouts_are_usage() {
    let (transport, mock, _) = mocked();
    for seconds in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e9] {
        let error = transport.get("https://api.example/").timeout_seconds(seconds).send().await.unwrap_err();
        assert_eq!((error.code, bytes_written(&error)), (Code::Usage, Written::No), "{seconds}");
    }
    assert!(mock.seen().is_empty());
}

#[tokio::test]
async fn a_name_that_does_not_answer_is_dns() {
    let transport = builder().resolver(Names::new([&[]])).build().unwrap();
    let error = transport.get("https://api.example/").no_retry().send().await.unwrap_err();
    assert_eq!(error.detail["phase"], "dns");
}
