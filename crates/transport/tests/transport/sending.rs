//! What goes out and what comes back.

use std::io::Write;

use loom_domain::Code;
use loom_transport::{FileBody, Multipart};
use serde_json::{Value, json};

use crate::support::{Peer, mocked, ok_json, reply};
use loom_transport::backend::mock::{Answer, Expectation};

#[tokio::test]
async fn cap_038_post_sends_json_and_reads_json() {
    let peer = Peer::start([ok_json(r#"{"ok":true}"#)]).await;
    let request = peer.transport().post(&peer.url("/api?x=1")).query("q", "a b").json(&json!({"text":"hi"}));
    let response = request.timeout(std::time::Duration::from_secs(10)).send().await.unwrap();
    assert_eq!(response.json::<Value>().unwrap(), json!({"ok":true}));
    let seen = &peer.requests()[0];
    assert!(seen.starts_with("POST /api?x=1&q=a+b HTTP/1.1\r\n"), "{seen}");
    let lower = seen.to_ascii_lowercase();
    assert!(
        lower.contains("content-type: application/json\r\n") && lower.contains("content-length: 13\r\n"),
        "{seen}"
    );
    assert!(lower.contains(&format!("host: {}\r\n", peer.address)), "{seen}");
    assert!(seen.ends_with(r#"{"text":"hi"}"#));
}

#[tokio::test]
async fn cap_039_statuses_have_their_kind() {
    let rows = [
        (400, "bad_request"),
        (403, "permission"),
        (404, "not_found"),
        (409, "conflict"),
        (410, "gone"),
        (422, "validation"),
        (451, "legal"),
        (418, "client_other"),
        (500, "server"),
        (503, "server"),
    ];
    for (status, kind) in rows {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("POST").answer(Answer::status(status)));
        let error = transport.post("https://api.example/").send().await.unwrap_err();
        assert_eq!((error.code, error.http_status), (Code::ProviderHttpError, Some(status)));
        assert_eq!(error.detail["kind"], kind);
    }
}

#[tokio::test]
async fn answers_of_401_429_and_3xx_have_their_own_codes() {
    for (status, code) in [
        (401, Code::ProviderAuthError),
        (429, Code::ProviderRateLimited),
        (302, Code::ProviderRedirectRefused),
    ] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("POST").answer(Answer::status(status)));
        let error = transport.post("https://api.example/").publish().send().await.unwrap_err();
        assert_eq!(error.code, code);
    }
}

#[tokio::test]
async fn any_status_gives_the_body_of_a_refusal() {
    let peer = Peer::start([reply(
        "429 Too Many",
        "Retry-After: 7\r\nContent-Type: application/json\r\n",
        b"{\"e\":1}",
    )])
    .await;
    let response = peer.transport().post(&peer.url("/")).publish().send_any_status().await.unwrap();
    assert_eq!((response.status(), response.header("retry-after")), (429, Some("7")));
    assert_eq!(response.json::<Value>().unwrap()["e"], 1);
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn forms_and_multipart_files_arrive_whole() {
    let peer = Peer::start([ok_json("{}")]).await;
    let transport = peer.transport();
    transport.post(&peer.url("/")).form([("a", "1 2"), ("b", "ü")]).send().await.unwrap();
    assert!(peer.requests()[0].ends_with("a=1+2&b=%C3%BC"));

    let mut file = tempfile::tempfile().unwrap();
    file.write_all("x".repeat(100_000).as_bytes()).unwrap();
    let form = Multipart::new().text("type", "file").file(
        "file",
        "a\"b.txt",
        "text/plain",
        FileBody::new(file).unwrap(),
    );
    transport.post(&peer.url("/")).multipart(form).send().await.unwrap();
    let seen = &peer.requests()[1];
    assert!(seen.contains("name=\"file\"; filename=\"a%22b.txt\"\r\nContent-Type: text/plain\r\n\r\nxxx"));
    assert!(seen.contains(&format!("\r\n\r\n{}\r\n--loom-", "x".repeat(100_000))));
}

#[tokio::test]
async fn a_download_comes_in_pieces_and_is_capped() {
    let peer = Peer::start([reply("200 OK", "", &vec![7; 300_000])]).await;
    let mut stream = peer.transport().get(&peer.url("/file")).stream().await.unwrap();
    assert_eq!(stream.content_length(), Some(300_000));
    let mut total = 0;
    while let Some(chunk) = stream.chunk().await {
        total += chunk.unwrap().len();
    }
    assert_eq!(total, 300_000);

    let mut capped = peer.transport().get(&peer.url("/file")).max_body_bytes(100_000).stream().await.unwrap();
    let mut last = None;
    while let Some(chunk) = capped.chunk().await {
        last = Some(chunk);
    }
    assert_eq!(last.unwrap().unwrap_err().code, Code::ProviderResponseTooLarge);
}

#[tokio::test]
async fn connections_are_used_again_and_a_closed_one_is_replaced() {
    let peer = Peer::start([ok_json("1"), ok_json("2"), ok_json("3")]).await;
    let transport = peer.transport();
    for _ in 0..3 {
        transport.get(&peer.url("/")).send().await.unwrap();
    }
    assert_eq!((peer.requests().len(), peer.connections()), (3, 1));
}

#[tokio::test]
async fn header_injection_is_invalid_input_and_opens_nothing() {
    let (transport, mock, _) = mocked();
    for (name, value) in [("x-a", "1\r\nx-b: 2"), ("x-a\r\n", "1"), ("x-a", "\0")] {
        let error = transport.get("https://api.example/").header(name, value).send().await.unwrap_err();
        assert_eq!(error.code, Code::InvalidInput);
    }
    assert!(mock.seen().is_empty());
}
