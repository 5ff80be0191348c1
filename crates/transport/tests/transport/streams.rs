//! Bodies as lines, JSON lines and events.

use futures_util::StreamExt;
use loom_domain::Code;
use loom_transport::ByteStream;
use loom_transport::backend::mock::{Answer, Expectation};
use serde_json::{Value, json};

use crate::support::{Act, Peer, mocked};

async fn body(kind: &str, text: impl AsRef<[u8]>) -> ByteStream {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(Answer::status(200).body(kind, text)));
    transport.get("https://api.example/").stream().await.unwrap()
}

#[tokio::test]
async fn lines_arrive_as_they_are_written() {
    let chunks =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n5\r\n\ntwo\n\r\n2\r\nno\r\n";
    let peer = Peer::start([Act::Reply(chunks.into())]).await;
    let mut lines = peer.transport().get(&peer.url("/")).stream().await.unwrap().lines();
    assert_eq!(lines.next().await.unwrap().unwrap(), "one");
    assert_eq!(lines.next().await.unwrap().unwrap(), "two");
    drop(lines);
    let whole: Vec<_> = body("text/plain", "a\r\nb").await.lines().collect().await;
    assert_eq!(whole.into_iter().map(Result::unwrap).collect::<Vec<_>>(), ["a", "b"]);
}

#[tokio::test]
async fn cap_046_a_line_over_its_limit_ends_the_stream() {
    let long = "x".repeat(1024 * 1024 + 1);
    let found: Vec<_> = body("text/plain", format!("a\n{long}\nb")).await.lines().collect().await;
    assert_eq!(found.len(), 2);
    let error = found[1].as_ref().unwrap_err();
    assert_eq!((error.code, error.http_status), (Code::ProviderResponseTooLarge, Some(200)));
    assert!(error.request_id.is_some());
    let found: Vec<_> = body("text/plain", b"\xff\n").await.lines().collect().await;
    assert_eq!(found[0].as_ref().unwrap_err().code, Code::ProviderProtocolError);
}

#[tokio::test]
async fn json_lines_are_values_until_one_is_none() {
    let found: Vec<_> =
        body("application/x-ndjson", "{\"a\":1}\n\n2\n{\n3\n").await.ndjson::<Value>().collect().await;
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].as_ref().unwrap(), found[1].as_ref().unwrap()), (&json!({"a": 1}), &json!(2)));
    assert_eq!(found[2].as_ref().unwrap_err().code, Code::ProviderProtocolError);
}

#[tokio::test]
async fn events_are_read_and_other_answers_refused() {
    let text = "event: add\rdata: 1\r\rdata: 2\n\n";
    let found: Vec<_> = body("text/event-stream; charset=utf-8", text).await.sse().collect().await;
    let found: Vec<_> = found.into_iter().map(Result::unwrap).map(|e| (e.event, e.data)).collect();
    assert_eq!(found, [("add".to_owned(), "1".to_owned()), ("message".to_owned(), "2".to_owned())]);
    let refused: Vec<_> = body("application/json", text).await.sse().collect().await;
    assert_eq!(refused[0].as_ref().unwrap_err().code, Code::ProviderProtocolError);
}

#[tokio::test]
async fn bytes_are_the_body() {
    let chunks: Vec<_> = body("text/plain", "abc").await.bytes().collect().await;
    let all: Vec<u8> = chunks.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(all, b"abc");
}
