//! Caps of answers.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use loom_domain::Code;
use loom_transport::backend::mock::{Answer, Expectation};
use serde_json::Value;

use crate::support::{Act, Peer, mocked, reply};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn cap_046_a_body_over_the_cap_is_refused_and_one_at_the_cap_passes() {
    for (bytes, passes) in [(4_096, true), (4_097, false)] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::too_large(bytes)));
        let answer = transport.get("https://api.example/").max_body_bytes(4_096).send().await;
        match answer {
            Ok(response) => assert!(passes && response.bytes().len() == bytes),
            Err(error) => assert_eq!((passes, error.code), (false, Code::ProviderResponseTooLarge)),
        }
    }
}

#[tokio::test]
async fn cap_046_a_gzip_bomb_is_stopped_by_its_ratio() {
    let bomb = gzip(&vec![0; 8 * 1024 * 1024]);
    let fair = gzip("{\"text\":\"hello hello hello\"}".as_bytes());
    let head = "Content-Encoding: gzip\r\nContent-Type: application/json\r\n";
    let peer = Peer::start([reply("200 OK", head, &fair), reply("200 OK", head, &bomb)]).await;
    let transport = peer.transport();
    let fair = transport.get(&peer.url("/")).send().await.unwrap();
    assert_eq!(fair.json::<Value>().unwrap()["text"], "hello hello hello");
    let error = transport.get(&peer.url("/")).send().await.unwrap_err();
    assert_eq!(error.code, Code::ProviderResponseTooLarge);
    assert_eq!(peer.requests().len(), 2);
}

/// "hello hello hello", and 64 MiB of zeroes in 53 bytes, as the brotli tool writes them.
const BROTLI_FAIR: &str = "GxAA+I2Ubt5EVYaWbCBvAU8cYBw=";
const BROTLI_BOMB: &str = "z///f/gnAOKxQCD3/p/////wTwDEYQGA7v0/////4Z8AiMMiAN37//z//8c/ARCHBQC69/8=";

#[tokio::test]
async fn cap_046_brotli_is_decoded_and_its_bombs_are_stopped() {
    let decoded = |text: &str| STANDARD.decode(text).unwrap();
    let head = "Content-Encoding: br\r\nContent-Type: text/plain\r\n";
    let (fair, bomb) = (decoded(BROTLI_FAIR), decoded(BROTLI_BOMB));
    let cut = fair[..fair.len() - 2].to_vec();
    let peer = Peer::start([
        reply("200 OK", head, &fair),
        reply("200 OK", head, &cut),
        reply("200 OK", head, &bomb),
    ])
    .await;
    let transport = peer.transport();
    let get = || transport.get(&peer.url("/")).max_body_bytes(1024 * 1024 * 1024).send();
    assert_eq!(get().await.unwrap().text().unwrap(), "hello hello hello");
    assert_eq!(get().await.unwrap_err().code, Code::ProviderProtocolError);
    assert_eq!(get().await.unwrap_err().code, Code::ProviderResponseTooLarge);
    assert!(peer.requests()[0].to_ascii_lowercase().contains("accept-encoding: gzip, br, deflate\r\n"));
}

#[tokio::test]
async fn text_is_of_the_declared_charset_or_strict_utf_8() {
    for (kind, body, text) in [
        ("text/plain", &b"caf\xc3\xa9"[..], Some("caf\u{e9}")),
        ("text/plain", b"caf\xe9", None),
        ("text/plain; charset=ISO-8859-1", b"caf\xe9", Some("caf\u{e9}")),
        ("text/html; charset=\"gb18030\"", b"\xc4\xe3", Some("\u{4f60}")),
        ("text/plain; charset=shift_jis", b"\x81", None),
        ("text/plain; charset=martian", b"a", None),
    ] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::status(200).body(kind, body)));
        let response = transport.get("https://api.example/").send().await.unwrap();
        match response.text() {
            Ok(found) => assert_eq!(Some(found), text, "{kind}"),
            Err(error) => assert_eq!((error.code, text), (Code::ProviderProtocolError, None), "{kind}"),
        }
    }
}

#[tokio::test]
async fn cap_046_json_that_is_too_deep_truncated_or_not_json_is_a_protocol_error() {
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    let json = |body: &str| Answer::status(200).body("application/json", body);
    let html = Answer::status(200).body("text/html", "{}");
    for answer in [json(&deep), json("{\"a\":"), html, Answer::bad_utf8()] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(answer));
        let response = transport.get("https://api.example/").send().await.unwrap();
        assert_eq!(response.json::<Value>().unwrap_err().code, Code::ProviderProtocolError);
    }
}

#[tokio::test]
async fn an_oversized_head_and_an_unknown_coding_are_refused() {
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect::<Vec<_>>().concat();
    let wide = format!("x-a: {}\r\n", "a".repeat(80_000));
    for head in [many, wide] {
        let peer = Peer::start([reply("200 OK", &head, b"")]).await;
        let error = peer.transport().get(&peer.url("/")).send().await.unwrap_err();
        assert_eq!(error.code, Code::ProviderResponseTooLarge);
    }
    let peer = Peer::start([reply("200 OK", "Content-Encoding: zstd\r\n", b"x")]).await;
    let error = peer.transport().get(&peer.url("/")).send().await.unwrap_err();
    assert_eq!(error.code, Code::ProviderProtocolError);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let cut = Act::ReplyAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec());
    let peer = Peer::start([cut]).await;
    let error = peer.transport().get(&peer.url("/")).no_retry().send().await.unwrap_err();
    assert_eq!((error.code, error.http_status), (Code::ProviderNetworkError, Some(200)));
    let error = peer.transport().post(&peer.url("/")).send().await.unwrap_err();
    assert_eq!(error.code, Code::OutcomeUnknown);
}
