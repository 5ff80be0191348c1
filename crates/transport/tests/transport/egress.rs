//! The egress policy with sockets: what is checked is what is connected to.

use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{Written, bytes_written};

use crate::support::{Names, Peer, builder, mocked, ok_json};

#[tokio::test]
async fn atk_27_a_name_that_resolves_to_a_private_address_is_refused() {
    for answer in [
        &["10.0.0.1"][..],
        &["93.184.216.34", "10.0.0.1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["169.254.169.254"],
        &["100.64.0.1"],
    ] {
        let transport = builder().resolver(Names::new([answer])).build().unwrap();
        let error = transport.get("https://api.example/").send().await.unwrap_err();
        assert_eq!(
            (error.code, error.detail["reason"].as_str()),
            (Code::EgressDenied, Some("private_address"))
        );
        assert_eq!((bytes_written(&error), error.attempts), (Written::No, Some(1)));
    }
}

/// CAP-049, ATK-27: the name changes between check and connect; the connection goes to the checked address.
#[tokio::test]
async fn cap_049_the_checked_address_is_the_one_connected_to() {
    let checked = Peer::start([ok_json("\"checked\"")]).await;
    let port = checked.address.port();
    let other = Peer::start_at(&format!("127.0.0.2:{port}"), [ok_json("\"other\"")]).await;
    let names = Names::new([&["127.0.0.1"], &["127.0.0.2"], &["10.0.0.1"]]);
    let url = format!("http://localhost:{port}/");
    let transport = builder().resolver(names.clone()).local_origin(&url).build().unwrap();

    let first = transport.get(&url).send().await.unwrap();
    assert_eq!((first.json::<String>().unwrap().as_str(), names.asked()), ("checked", 1));
    assert_eq!(other.connections(), 0);

    drop(transport);
    let transport = builder().resolver(names.clone()).local_origin(&url).build().unwrap();
    assert_eq!(transport.get(&url).send().await.unwrap().json::<String>().unwrap(), "other");
    let error = transport.get(&url).send().await.unwrap_err();
    assert_eq!(error.code, Code::EgressDenied);
}

#[tokio::test]
async fn loopback_is_refused_without_a_local_origin() {
    let peer = Peer::start([ok_json("1")]).await;
    let transport = builder().build().unwrap();
    assert_eq!(transport.get(&peer.url("/")).send().await.unwrap_err().code, Code::EgressDenied);
    let tls = format!("https://{}/", peer.address);
    assert_eq!(transport.get(&tls).send().await.unwrap_err().code, Code::EgressDenied);
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn cap_050_redirects_are_refused_unless_asked_for() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(Answer::redirect(302, "https://other.example/")));
    let error = transport.get("https://api.example/").send().await.unwrap_err();
    assert_eq!(error.code, Code::ProviderRedirectRefused);
    assert_eq!(mock.seen().len(), 1);
}

#[tokio::test]
async fn cap_050_a_followed_redirect_passes_the_policy_again() {
    let targets = [
        ("https://127.0.0.1/", Code::EgressDenied),
        ("http://other.example/", Code::ProviderRedirectRefused),
        ("https://other.example:8443/", Code::EgressDenied),
    ];
    for (target, code) in targets {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::redirect(307, target)));
        let error = transport.get("https://api.example/").redirects(5).send().await.unwrap_err();
        assert_eq!(error.code, code, "{target}");
        assert_eq!(mock.seen().len(), 1);
    }
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("POST").answer(Answer::redirect(307, "https://other.example/")));
    let error = transport.post("https://api.example/").redirects(5).send().await.unwrap_err();
    assert_eq!(error.code, Code::ProviderRedirectRefused);
}
